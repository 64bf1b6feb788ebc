//! Every value that an op gives on operands from some ranges lies in the range that is found for it.

use super::{Graph, Ranges};
use halite_hlo::{ArrayType, BinaryOp, Comparison, ComputationBuilder, Id, ModuleBuilder, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, IntRange};

/// The value of an integer of this type, wrapped to it.
fn wrap(value: i128, dtype: DType) -> i128 {
    let value = value.rem_euclid(1 << dtype.bits());
    let (_, high) = dtype.int_range().unwrap_or_default();
    if value > high { value - (1 << dtype.bits()) } else { value }
}

/// Computes an op as XLA does; `None` where XLA leaves the result open.
fn binary(op: BinaryOp, x: i128, y: i128, dtype: DType) -> Option<i128> {
    let bits = dtype.bits() as i128;
    let shifts = (0..bits).contains(&y);
    let raw = x.rem_euclid(1 << bits);
    let value = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Subtract => x - y,
        BinaryOp::Multiply => x * y,
        BinaryOp::Maximum => x.max(y),
        BinaryOp::Minimum => x.min(y),
        BinaryOp::Divide | BinaryOp::Remainder if y == 0 => return None,
        BinaryOp::Divide => x / y,
        BinaryOp::Remainder => x % y,
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::ShiftLeft => {
            if shifts {
                raw << y
            } else {
                0
            }
        }
        BinaryOp::ShiftRightLogical => {
            if shifts {
                raw >> y
            } else {
                0
            }
        }
        BinaryOp::ShiftRightArithmetic => x >> if shifts { y } else { bits - 1 },
        _ => return None,
    };
    Some(wrap(value, dtype))
}

fn unary(op: UnaryOp, x: i128, dtype: DType) -> Option<i128> {
    let value = match op {
        UnaryOp::Abs => x.abs(),
        UnaryOp::Negate => -x,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Not => !x,
        UnaryOp::PopulationCount => i128::from(x.rem_euclid(1 << dtype.bits()).count_ones()),
        _ => return None,
    };
    Some(wrap(value, dtype))
}

/// The range that is found for the only result of a module whose parameters are clamped to these ranges.
fn found(
    dtype: DType,
    operands: &[IntRange],
    make: impl FnOnce(&mut ComputationBuilder<'_>, &[Id]) -> Result<Id>,
) -> Result<IntRange> {
    let mut module = ModuleBuilder::new("module");
    let mut entry = module.computation("main");
    let mut clamped = Vec::new();
    for range in operands {
        let x = entry.parameter("x", ArrayType::scalar(dtype))?;
        let low = entry.constant_scalar(dtype, range.low as f64)?;
        let high = entry.constant_scalar(dtype, range.high as f64)?;
        clamped.push(entry.clamp(low, x, high)?);
    }
    let result = make(&mut entry, &clamped)?;
    let root = entry.root_tuple(&[result])?;
    entry.finish(root)?;
    let module = module.finish()?;
    let graph = Graph::new(module);
    let root = graph.entry().and_then(|entry| graph.operand(entry.root?, 0)).expect("the module was just made");
    Ok(Ranges::new(&graph).of(root))
}

/// Ranges of a type of 8 bits: whole, around zero, at the ends, single.
fn ranges(dtype: DType) -> Vec<IntRange> {
    let (low, high) = dtype.int_range().unwrap_or_default();
    let ends = [(low, high), (0, 9), (low.max(-5), 6), (high - 3, high), (low, low + 2), (3, 3), (0, 0), (1, 40)];
    ends.into_iter().map(|(low, high)| IntRange::new(low, high)).collect()
}

/// Whether the range holds these values, and is not wider than its type.
#[track_caller]
fn holds(what: &str, found: IntRange, values: impl Iterator<Item = i128>) {
    for value in values {
        assert!(IntRange::new(value, value).within(found), "{what}: {value} is not in {found}");
    }
}

#[test]
fn results_of_two_operands_lie_in_their_ranges() {
    for dtype in [DType::S8, DType::U8] {
        for (&x, y) in ranges(dtype).iter().flat_map(|x| ranges(dtype).into_iter().map(move |y| (x, y))) {
            let values = || (x.low..=x.high).flat_map(|a| (y.low..=y.high).map(move |b| (a, b)));
            for &op in BinaryOp::ALL {
                let Ok(found) = found(dtype, &[x, y], |b, ids| b.binary(op, ids[0], ids[1])) else { continue };
                let what = format!("{op} of {dtype} in {x} and {y}");
                holds(&what, found, values().filter_map(|(x, y)| binary(op, x, y, dtype)));
            }
            for &direction in Comparison::ALL {
                let holds_for = |x: i128, y: i128| match direction {
                    Comparison::Eq => x == y,
                    Comparison::Ne => x != y,
                    Comparison::Ge => x >= y,
                    Comparison::Gt => x > y,
                    Comparison::Le => x <= y,
                    Comparison::Lt => x < y,
                };
                let found = found(dtype, &[x, y], |b, ids| b.compare(direction, ids[0], ids[1])).expect("it is made");
                let what = format!("{direction} of {dtype} in {x} and {y}");
                holds(&what, found, values().map(|(x, y)| i128::from(holds_for(x, y))));
            }
        }
    }
}

#[test]
fn results_of_one_operand_lie_in_their_ranges() {
    for dtype in [DType::S8, DType::U8] {
        for x in ranges(dtype) {
            for &op in UnaryOp::ALL {
                let Ok(found) = found(dtype, &[x], |b, ids| b.unary(op, ids[0])) else { continue };
                holds(&format!("{op} of {dtype} in {x}"), found, (x.low..=x.high).filter_map(|x| unary(op, x, dtype)));
            }
            for to in [DType::Pred, DType::S8, DType::U8, DType::S32, DType::U32] {
                let found = found(dtype, &[x], |b, ids| b.convert(ids[0], to)).expect("it is made");
                let converted = |x: i128| if to == DType::Pred { i128::from(x != 0) } else { wrap(x, to) };
                holds(&format!("{dtype} in {x} to {to}"), found, (x.low..=x.high).map(converted));
            }
        }
    }
}

#[test]
fn ranges_are_as_narrow_as_they_can_be_where_that_counts() {
    let narrow = |low, high| IntRange::new(low, high);
    let of = |op: BinaryOp, x: IntRange, y: IntRange| {
        found(DType::S32, &[x, y], |b, ids| b.binary(op, ids[0], ids[1])).expect("it is made")
    };
    assert_eq!(of(BinaryOp::Add, narrow(-3, 5), narrow(1, 2)), narrow(-2, 7));
    assert_eq!(of(BinaryOp::Multiply, narrow(-3, 5), narrow(-2, 2)), narrow(-10, 10));
    assert_eq!(of(BinaryOp::Remainder, narrow(0, 1000), narrow(7, 7)), narrow(0, 6));
    assert_eq!(of(BinaryOp::And, narrow(-1000, 1000), narrow(15, 15)), narrow(0, 15));
    // `x < 0 ? x + 8 : x`, as positions from the end are written.
    let counted = found(DType::S32, &[narrow(0, 7)], |b, ids| {
        let (zero, eight) = (b.constant_scalar(DType::S32, 0.0)?, b.constant_scalar(DType::S32, 8.0)?);
        let (is_negative, moved) = (b.compare(Comparison::Lt, ids[0], zero)?, b.add(ids[0], eight)?);
        b.select(is_negative, moved, ids[0])
    });
    assert_eq!(counted.expect("it is made"), narrow(0, 7));
}
