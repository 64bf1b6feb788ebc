//! XLA's numbers of element types: `PrimitiveType` of its schema (`xla/xla_data.proto`), which `HloModuleProto` uses. The PJRT
//! C API has numbers of its own.

use crate::DType;

/// The number of a tuple, which stands where an array has its element type.
pub const TUPLE: i32 = 13;

/// The type that a number stands for.
#[derive(Clone, Copy)]
enum Meaning {
    /// One of our types.
    Ours(DType),
    /// A type that XLA has and we lack: its name in HLO text and the bytes that an element takes. Types of less than a byte take
    /// one; tokens and opaque handles take none.
    Foreign(&'static str, u64),
    Tuple,
}

use Meaning::{Foreign, Ours};

/// The type of each number, from 1.
const MEANINGS: [Meaning; 33] = [
    Ours(DType::Pred),
    Ours(DType::S8),
    Ours(DType::S16),
    Ours(DType::S32),
    Ours(DType::S64),
    Ours(DType::U8),
    Ours(DType::U16),
    Ours(DType::U32),
    Ours(DType::U64),
    Ours(DType::F16),
    Ours(DType::F32),
    Ours(DType::F64),
    Meaning::Tuple,
    Foreign("opaque", 0),
    Foreign("c64", 8),
    Ours(DType::Bf16),
    Foreign("token", 0),
    Foreign("c128", 16),
    Foreign("f8e5m2", 1),
    Foreign("f8e4m3fn", 1),
    Foreign("s4", 1),
    Foreign("u4", 1),
    Foreign("f8e4m3b11fnuz", 1),
    Foreign("f8e5m2fnuz", 1),
    Foreign("f8e4m3fnuz", 1),
    Foreign("s2", 1),
    Foreign("u2", 1),
    Foreign("f8e4m3", 1),
    Foreign("f8e3m4", 1),
    Foreign("s1", 1),
    Foreign("u1", 1),
    Foreign("f4e2m1fn", 1),
    Foreign("f8e8m0fnu", 1),
];

fn meaning(number: i32) -> Option<Meaning> {
    MEANINGS.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// The number of an element type.
pub fn number(dtype: DType) -> i32 {
    let is_own = |meaning: &Meaning| matches!(meaning, Ours(own) if *own == dtype);
    MEANINGS.iter().position(is_own).map_or(0, |at| at as i32 + 1)
}

/// The element type of a number; `None` for tuples, types that we lack, and numbers that the schema does not define.
pub fn dtype(number: i32) -> Option<DType> {
    match meaning(number)? {
        Ours(dtype) => Some(dtype),
        Foreign(..) | Meaning::Tuple => None,
    }
}

/// The name of a number in HLO text; `None` for tuples and numbers that the schema does not define.
pub fn name(number: i32) -> Option<&'static str> {
    match meaning(number)? {
        Ours(dtype) => Some(dtype.name()),
        Foreign(name, _) => Some(name),
        Meaning::Tuple => None,
    }
}

/// The number of a name in HLO text.
pub fn numbered(name: &str) -> Option<i32> {
    (1..=MEANINGS.len() as i32).find(|number| self::name(*number) == Some(name))
}

/// The names in HLO text.
pub fn names() -> impl Iterator<Item = &'static str> {
    (1..=MEANINGS.len() as i32).filter_map(name)
}

/// Bytes of one element, also of types that we lack; `None` for tuples and numbers that the schema does not define.
pub fn bytes(number: i32) -> Option<u64> {
    match meaning(number)? {
        Ours(dtype) => Some(dtype.size() as u64),
        Foreign(_, bytes) => Some(bytes),
        Meaning::Tuple => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_types_are_inverse() {
        for ours in DType::ALL {
            assert_eq!(dtype(number(ours)), Some(ours));
        }
        let ours = (i32::MIN..=i32::MAX).step_by(1 << 20).chain(-2..40).filter(|number| dtype(*number).is_some());
        assert_eq!(ours.count(), DType::ALL.len());
    }

    #[test]
    fn every_number_of_the_schema_has_a_name_but_the_tuple() {
        let named: Vec<i32> = (-1..40).filter(|number| name(*number).is_some()).collect();
        assert!(named.iter().copied().eq((1..=33).filter(|number| *number != TUPLE)), "{named:?}");
        assert!(names().all(|own| numbered(own).and_then(name) == Some(own)) && numbered("tuple").is_none());
        assert_eq!((name(19), bytes(18), bytes(17), bytes(TUPLE)), (Some("f8e5m2"), Some(16), Some(0), None));
    }
}
