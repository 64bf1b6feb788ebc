//! Rules for changes of element type.

use super::candidate::{Candidate, Rewrite};
use halite_ir::{Op, loses};
use halite_tensor::DType;

/// `convert(x) => x` to the type that x has.
pub(super) fn identity(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Convert(convert) = candidate.op else { return None };
    (convert.dtype == candidate.ty(0).dtype()).then(|| Rewrite::To(candidate.args[0]))
}

/// `convert<V>(convert<U>(x)) => convert<V>(x)` when U represents every value of the type of x, for any V. A first
/// convert that rounds stays.
pub(super) fn widening_pair(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Convert(outer) = candidate.op else { return None };
    let (Op::Convert(inner), args) = candidate.def(0)? else { return None };
    let exact = represents(inner.dtype, candidate.function.ty(args[0]).dtype());
    exact.then(|| Rewrite::apply(outer.clone(), &[args[0]]))
}

/// `convert(reshape(x)) => reshape(convert(x))` when nothing else reads the reshape: reshapes meet and become one.
pub(super) fn of_reshape(candidate: &Candidate<'_>) -> Option<Rewrite> {
    let Op::Convert(convert) = candidate.op else { return None };
    let (Op::Reshape(reshape), args) = candidate.def(0)? else { return None };
    candidate.uses.at_most_one(candidate.args[0]).then(|| Rewrite::chain(convert.clone(), args, reshape.clone()))
}

/// Whether every value of `narrow` is one of `wide`.
fn represents(wide: DType, narrow: DType) -> bool {
    if wide == narrow {
        return true;
    }
    match (wide.significand_bits(), narrow.significand_bits()) {
        (Some(_), Some(_)) => !loses(narrow, wide),
        (Some(digits), None) => narrow.bits() <= digits && fits_exponent(wide, narrow),
        (None, Some(_)) => false,
        (None, None) => contains(wide, narrow),
    }
}

/// Whether the integers of `narrow` lie below the largest finite value of `wide`.
fn fits_exponent(wide: DType, narrow: DType) -> bool {
    let greatest = narrow.int_range().map_or(0.0, |(_, highest)| highest as f64);
    wide.max_finite().is_some_and(|limit| greatest <= limit)
}

/// Whether the range of the integer type `wide` contains that of `narrow`.
fn contains(wide: DType, narrow: DType) -> bool {
    let ranges = wide.int_range().zip(narrow.int_range());
    wide != DType::Pred && ranges.is_some_and(|(wide, narrow)| wide.0 <= narrow.0 && narrow.1 <= wide.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_pairs_are_represented() {
        use DType::*;
        let pairs = [(F32, Bf16), (F32, F16), (F64, F32), (S32, U16), (F32, S16), (Bf16, U8), (F64, U32), (S8, Pred)];
        assert!(pairs.iter().all(|&(wide, narrow)| represents(wide, narrow)));
        let pairs = [(Bf16, F16), (F16, Bf16), (Bf16, F32), (U32, S8), (F32, S32), (F16, S16), (S32, F32), (Pred, S8)];
        assert!(!pairs.iter().any(|&(wide, narrow)| represents(wide, narrow)));
    }
}
