//! The precision of products.

use super::Braced;
use crate::proto::PrecisionConfig;
use std::fmt::{self, Write};

/// The precisions of an operand, by their numbers in the schema.
pub(super) const PRECISIONS: [&str; 4] = ["default", "high", "highest", "packed_nibble"];

/// The ways to compute a product, by their numbers in the schema; the first is no one in particular.
pub(super) const ALGORITHMS: [&str; 14] = [
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9",
];

/// `, operand_precision={high,default}, algorithm=dot_f32_f32_f32`, as far as it is no default.
pub(super) fn print(out: &mut String, config: &PrecisionConfig) -> fmt::Result {
    let name = |names: &[&'static str], number: i32| usize::try_from(number).ok().and_then(|at| names.get(at)).copied();
    if config.operand_precision.iter().any(|precision| *precision != 0) {
        let names: Vec<_> =
            config.operand_precision.iter().map(|&precision| name(&PRECISIONS, precision).unwrap_or("?")).collect();
        write!(out, ", operand_precision={}", Braced(&names))?;
    }
    match config.algorithm {
        0 => Ok(()),
        number => write!(out, ", algorithm={}", name(&ALGORITHMS, number).unwrap_or("?")),
    }
}
