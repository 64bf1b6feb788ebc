//! Operations on each element.

use crate::op::{Meaning, Op};
use crate::site::Site;
use halite_hlo::{BinaryOp, Opcode, UnaryOp};
use halite_support::Result;

pub(super) fn meaning(site: &Site<'_>) -> Option<Result<Meaning>> {
    let opcode = site.opcode();
    let name = match Opcode::parse(opcode) {
        Some(Opcode::BitcastConvert) => Some("stablehlo.bitcast_convert"),
        Some(Opcode::Clamp) => Some("stablehlo.clamp"),
        Some(Opcode::Compare) => return Some(compare(site).map(Meaning::from)),
        Some(Opcode::Convert) => Some("stablehlo.convert"),
        Some(Opcode::Select) => Some("stablehlo.select"),
        _ => UnaryOp::parse(opcode).map(unary).or_else(|| BinaryOp::parse(opcode).map(binary)),
    }?;
    Some(site.op(name).map(Meaning::from))
}

/// StableHLO has no `erf`; that of CHLO, which JAX writes, XLA reads as its own.
fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Abs => "stablehlo.abs",
        UnaryOp::Cbrt => "stablehlo.cbrt",
        UnaryOp::Ceil => "stablehlo.ceil",
        UnaryOp::Cosine => "stablehlo.cosine",
        UnaryOp::CountLeadingZeros => "stablehlo.count_leading_zeros",
        UnaryOp::Erf => "chlo.erf",
        UnaryOp::Exponential => "stablehlo.exponential",
        UnaryOp::ExponentialMinusOne => "stablehlo.exponential_minus_one",
        UnaryOp::Floor => "stablehlo.floor",
        UnaryOp::IsFinite => "stablehlo.is_finite",
        UnaryOp::Log => "stablehlo.log",
        UnaryOp::LogPlusOne => "stablehlo.log_plus_one",
        UnaryOp::Logistic => "stablehlo.logistic",
        UnaryOp::Negate => "stablehlo.negate",
        UnaryOp::Not => "stablehlo.not",
        UnaryOp::PopulationCount => "stablehlo.popcnt",
        UnaryOp::RoundNearestAfz => "stablehlo.round_nearest_afz",
        UnaryOp::RoundNearestEven => "stablehlo.round_nearest_even",
        UnaryOp::Rsqrt => "stablehlo.rsqrt",
        UnaryOp::Sign => "stablehlo.sign",
        UnaryOp::Sine => "stablehlo.sine",
        UnaryOp::Sqrt => "stablehlo.sqrt",
        UnaryOp::Tan => "stablehlo.tan",
        UnaryOp::Tanh => "stablehlo.tanh",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "stablehlo.add",
        BinaryOp::And => "stablehlo.and",
        BinaryOp::Atan2 => "stablehlo.atan2",
        BinaryOp::Divide => "stablehlo.divide",
        BinaryOp::Maximum => "stablehlo.maximum",
        BinaryOp::Minimum => "stablehlo.minimum",
        BinaryOp::Multiply => "stablehlo.multiply",
        BinaryOp::Or => "stablehlo.or",
        BinaryOp::Power => "stablehlo.power",
        BinaryOp::Remainder => "stablehlo.remainder",
        BinaryOp::ShiftLeft => "stablehlo.shift_left",
        BinaryOp::ShiftRightArithmetic => "stablehlo.shift_right_arithmetic",
        BinaryOp::ShiftRightLogical => "stablehlo.shift_right_logical",
        BinaryOp::Subtract => "stablehlo.subtract",
        BinaryOp::Xor => "stablehlo.xor",
    }
}

/// The checker holds the direction to those there are. A comparison without a type is of the type of its operands.
fn compare(site: &Site<'_>) -> Result<Op> {
    let inst = site.inst();
    let direction = format!("#stablehlo<comparison_direction {}>", inst.comparison_direction);
    let op = site.op("stablehlo.compare")?.with("comparison_direction", direction);
    Ok(match inst.comparison_type.as_str() {
        "" => op,
        kind => op.with("compare_type", format!("#stablehlo<comparison_type {kind}>")),
    })
}
