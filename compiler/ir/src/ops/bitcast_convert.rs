//! `bitcast_convert`.

use super::special::{ints, reals};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

described! {
    /// The bits of each element read as another element type of equal width; neither is `pred`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct BitcastConvert {
        /// Element type of the result.
        pub dtype: DType,
    }
}

impl Default for BitcastConvert {
    fn default() -> Self {
        Self { dtype: DType::U32 }
    }
}

impl OpDef for BitcastConvert {
    fn name(&self) -> &str {
        "bitcast_convert"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::DType(&mut self.dtype));
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("bitcast_convert", args)?;
        if x.dtype() == DType::Pred || self.dtype.bits() != x.dtype().bits() {
            let message = format!("`bitcast_convert` cannot read the bits of `{x}` as `{}`", self.dtype);
            return Err(attr_error(message).help(format!("choose an element type of {} bits", x.dtype().size() * 8)));
        }
        Ok(smallvec![x.with_dtype(self.dtype)])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let bits = HostTensor::from_bytes(self.dtype, args[0].shape().clone(), args[0].bytes().to_vec());
        Ok(vec![bits.expect("elements of equal width")])
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("bits are not real numbers"))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::INTEGER
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.bitcast_convert(args[0], self.dtype))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let to = |label, dtype: DType, x: SampleArg| Sample::new(label, BitcastConvert { dtype }, [x]);
        let (unsigned, signed, one) = match float {
            DType::F64 => (DType::U64, DType::S64, 0x3ff0 << 48),
            DType::F32 => (DType::U32, DType::S32, 0x3f80 << 16),
            _ => (DType::U16, DType::S16, 0x3c00),
        };
        vec![
            to("unsigned bits", unsigned, reals(float)),
            to("signed bits", signed, reals(float)),
            to("from bits", float, SampleArg::whole(unsigned, [2, 3], one, one + 999)),
            to("between integers", DType::U8, ints(DType::S8)),
        ]
    }
}

impl Builder<'_> {
    /// The bits of `x` read as another element type; `x` itself when it has it already.
    ///
    /// # Errors
    /// When the widths differ or one type is `pred`.
    pub fn bitcast_convert(&mut self, x: Value, dtype: DType) -> Result<Value> {
        if self.dtype(x) == dtype { Ok(x) } else { self.emit(BitcastConvert { dtype }, &[x]) }
    }
}
