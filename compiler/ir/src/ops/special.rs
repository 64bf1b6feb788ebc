//! Samples of element-wise ops, and operands for them at the edges of their element types.

use crate::op::{Sample, SampleArg};
use crate::ops::Op;
use halite_tensor::DType;

/// Integer types of several widths, signed and not.
pub(super) const INTS: [DType; 6] = [DType::S8, DType::U8, DType::S32, DType::U32, DType::S64, DType::U64];

/// The signed ones.
pub(super) const SIGNED_INTS: [DType; 3] = [DType::S8, DType::S32, DType::S64];

/// Zeros, infinities, NaN, and ordinary numbers of both signs; no subnormals, which CPU XLA takes for zero.
const REALS: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 2.5, -3e4, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Two samples with floats: `smooth`, each operand between its bounds, where the gradient is checked, and `special`.
/// XLA may be `ulps` off.
pub(super) fn smooth_and_special<const N: usize>(
    op: impl Into<Op>,
    float: DType,
    bounds: [(f64, f64); N],
    ulps: f64,
) -> Vec<Sample> {
    let op = op.into();
    let smooth = bounds.map(|(low, high)| SampleArg::uniform(float, [2, 3], low, high));
    let special = if N == 1 { vec![reals(float)] } else { real_pairs(float).to_vec() };
    vec![Sample::new("smooth", op.clone(), smooth).ulps(ulps), Sample::new("special", op, special).ulps(ulps)]
}

/// Three samples with floats above zero, below it and at special values, for an op with a kink or a jump at zero;
/// bit-exact.
pub(super) fn both_signs(op: impl Into<Op>, float: DType) -> Vec<Sample> {
    let op = op.into();
    vec![
        Sample::new("positive", op.clone(), [SampleArg::uniform(float, [2, 3], 0.2, 2.0)]),
        Sample::new("negative", op.clone(), [SampleArg::uniform(float, [2, 3], -2.0, -0.2)]),
        Sample::new("special", op, [reals(float)]),
    ]
}

/// A sample for each of `dtypes`, bit-exact.
pub(super) fn per_type<const N: usize>(
    op: impl Into<Op>,
    dtypes: &[DType],
    operands: impl Fn(DType) -> [SampleArg; N],
) -> Vec<Sample> {
    let op = op.into();
    dtypes.iter().map(|&dtype| Sample::new(dtype.name(), op.clone(), operands(dtype))).collect()
}

/// One float operand.
pub(super) fn reals(float: DType) -> SampleArg {
    SampleArg::listed(float, [REALS.len()], &REALS)
}

/// One float operand halfway between whole numbers, and close to that.
pub(super) fn ties(float: DType) -> SampleArg {
    SampleArg::listed(float, [9], &[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.498, 1.502, -0.502])
}

/// Two float operands that meet in every combination.
pub(super) fn real_pairs(float: DType) -> [SampleArg; 2] {
    let right = [0.0, -0.0, 1.0, -2.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    combine(float, &REALS, &right)
}

/// The smallest normal numbers of both signs and a half, whose products are subnormal.
pub(super) fn subnormal_products(float: DType) -> [SampleArg; 2] {
    let exponent = match float {
        DType::F16 => -14.0,
        DType::F64 => -1022.0,
        _ => -126.0,
    };
    let smallest = f64::exp2(exponent);
    [SampleArg::listed(float, [2], &[smallest, -smallest]), SampleArg::listed(float, [2], &[0.5])]
}

/// One integer operand, with the smallest and the largest value.
pub(super) fn ints(dtype: DType) -> SampleArg {
    let values = int_values(dtype);
    SampleArg::listed(dtype, [values.len()], &values)
}

/// Two integer operands that meet in every combination, with smallest, largest, zero and all bits set among them.
pub(super) fn int_pairs(dtype: DType) -> [SampleArg; 2] {
    let values = int_values(dtype);
    combine(dtype, &values, &values[1..])
}

/// Two integer operands: numbers to shift, and amounts up to beyond the width.
pub(super) fn int_shifts(dtype: DType) -> [SampleArg; 2] {
    let width = f64::from(dtype.bits());
    combine(dtype, &int_values(dtype), &[0.0, 1.0, 3.0, width - 1.0, width, width + 1.0])
}

/// Two `pred` operands that meet in every combination.
pub(super) fn pred_pairs() -> [SampleArg; 2] {
    combine(DType::Pred, &[0.0, 1.0], &[0.0, 1.0, 1.0])
}

/// Every combination of the lists, whose lengths have no common divisor.
pub(super) fn combine(dtype: DType, left: &[f64], right: &[f64]) -> [SampleArg; 2] {
    let count = left.len() * right.len();
    [SampleArg::listed(dtype, [count], left), SampleArg::listed(dtype, [count], right)]
}

/// Values around the ends of the range and around zero that `f64` holds exactly.
fn int_values(dtype: DType) -> [f64; 7] {
    let (low, high) = dtype.int_range().unwrap_or_default();
    let spacing = if dtype.bits() == 64 { 1i128 << (dtype.bits() - 53 - u32::from(dtype.is_signed())) } else { 1 };
    let high = high + 1 - spacing;
    let middle = if dtype.is_signed() { -1 } else { (high + spacing) / 2 };
    [high, low, middle, 0, 1, 2, 7].map(|value| value as f64)
}
