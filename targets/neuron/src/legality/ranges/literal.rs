//! Integers of constants.

use halite_hlo::proto::LiteralProto;
use halite_tensor::DType;

/// The integers of a literal in order; nothing for floats.
pub(in crate::legality) fn integers(literal: &LiteralProto, dtype: DType) -> Box<dyn Iterator<Item = i128> + '_> {
    fn wide<T: Copy + Into<i128>>(values: &[T]) -> Box<dyn Iterator<Item = i128> + '_> {
        Box::new(values.iter().map(|value| (*value).into()))
    }
    match dtype {
        DType::Pred => Box::new(literal.preds.iter().map(|value| i128::from(*value))),
        DType::U8 => wide(&literal.u8s),
        DType::S8 => Box::new(literal.s8s.iter().map(|byte| i128::from(*byte as i8))),
        DType::U16 => Box::new(literal.u16s.as_chunks().0.iter().map(|bytes| i128::from(u16::from_le_bytes(*bytes)))),
        DType::S16 => Box::new(literal.s16s.as_chunks().0.iter().map(|bytes| i128::from(i16::from_le_bytes(*bytes)))),
        DType::S32 => wide(&literal.s32s),
        DType::U32 => wide(&literal.u32s),
        DType::S64 => wide(&literal.s64s),
        DType::U64 => wide(&literal.u64s),
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => Box::new(std::iter::empty()),
    }
}
