//! Arithmetic and functions, element by element.

use crate::site::{Site, of_bits, one};
use halite_hlo::{Comparison, Opcode};
use halite_ir::ops::{And, BitcastConvert, Clamp, Compare, Direction, Or, Select};
use halite_ir::{Op, Value, Values};
use halite_tensor::DType;

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let dtype = site.types.first()?.dtype();
    match site.opcode() {
        "clamp" if dtype == DType::Pred => {
            let [low, x, high] = site.operands()?;
            let raised = site.emit(Or, &[low, x])?;
            site.emit(And, &[raised, high]).map(one)
        }
        "clamp" => site.apply(Clamp),
        "select" => site.apply(Select),
        "compare" => {
            let direction = direction(Comparison::parse(&site.inst().comparison_direction)?);
            site.apply(Compare { direction })
        }
        "convert" => {
            let [x] = site.operands()?;
            site.converted(x, dtype).map(one)
        }
        "bitcast-convert" => site.apply(BitcastConvert { dtype }),
        "reduce-precision" => narrowed(site),
        opcode => {
            let opcode = if dtype == DType::Pred { of_bits(opcode) } else { opcode };
            let op = Op::of_opcode(Opcode::parse(opcode)?)?;
            let clamped = if matches!(op, Op::Minimum(_)) && dtype.is_int() { clamped(site) } else { None };
            clamped.or_else(|| site.apply(op))
        }
    }
}

pub(super) fn direction(comparison: Comparison) -> Direction {
    match comparison {
        Comparison::Eq => Direction::Eq,
        Comparison::Ne => Direction::Ne,
        Comparison::Ge => Direction::Ge,
        Comparison::Gt => Direction::Gt,
        Comparison::Le => Direction::Le,
        Comparison::Lt => Direction::Lt,
    }
}

/// The lesser of a constant and the greater of a value and a lesser constant, as the clamp that it is.
fn clamped(site: &mut Site<'_, '_>) -> Option<Values> {
    let number = |value: Value| site.constant(value)?.splat_value();
    let with_constant = |[x, y]: [Value; 2]| match (number(x), number(y)) {
        (_, Some(bound)) => Some((x, y, bound)),
        (Some(bound), _) => Some((y, x, bound)),
        _ => None,
    };
    let (raised, high, most) = with_constant(site.operands()?)?;
    let inner = site.b.function().def(raised).filter(|inst| matches!(inst.op, Op::Maximum(_)))?;
    let (x, low, least) = with_constant(inner.args[..].try_into().ok()?)?;
    if least <= most { site.emit(Clamp, &[low, x, high]).map(one) } else { None }
}

/// A value rounded to a narrower type, in its own.
fn narrowed(site: &mut Site<'_, '_>) -> Option<Values> {
    let [x] = site.operands()?;
    let narrow = match (site.inst().exponent_bits, site.inst().mantissa_bits) {
        (8, 7) => DType::Bf16,
        (5, 10) => DType::F16,
        (8, 23) => DType::F32,
        _ => return None,
    };
    let dtype = site.b.dtype(x);
    let narrow = site.converted(x, narrow)?;
    site.converted(narrow, dtype).map(one)
}
