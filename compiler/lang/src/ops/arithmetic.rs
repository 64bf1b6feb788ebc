//! Arithmetic on numbers that are known while a model runs.

use super::division::{real_remainder, remainder};
use super::value::{List, MAX_LIST_ITEMS};
use super::{Factors, Value};
use crate::ast::{BinaryOp, Comparison};
use halite_support::{Diagnostic, codes};

/// Applies an operator to two values that are not tensors; `None` when it does not take values of these kinds.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Option<Result<Value, Diagnostic>> {
    match (left, right) {
        (Value::Int(x, left), Value::Int(y, right)) => {
            let result = ints(op, *x, *y)?;
            Some(result.map(|result| match result {
                Value::Int(value, _) if op == BinaryOp::Multiply => {
                    Value::Int(value, Factors::product([*x, *y], [left, right]))
                }
                other => other,
            }))
        }
        (Value::Bool(x), Value::Bool(y)) => bools(op, *x, *y).map(Ok),
        (Value::Text(x), Value::Text(y)) => same(op, x == y).map(Ok),
        (Value::Type(x), Value::Type(y)) => same(op, x == y).map(Ok),
        (Value::List(x), Value::List(y)) if op == BinaryOp::Add => Some(join(x, y)),
        _ => reals(op, left.as_real()?, right.as_real()?),
    }
}

fn overflow() -> Diagnostic {
    Diagnostic::error(codes::ARITHMETIC, "the result does not fit in 64 bits")
}

fn ints(op: BinaryOp, x: i64, y: i64) -> Option<Result<Value, Diagnostic>> {
    let result = match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Subtract => x.checked_sub(y),
        BinaryOp::Multiply => x.checked_mul(y),
        BinaryOp::Power if y < 0 => return reals(op, x as f64, y as f64),
        BinaryOp::Power => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        BinaryOp::Divide | BinaryOp::Remainder if y == 0 => {
            return Some(Err(Diagnostic::error(codes::ARITHMETIC, format!("{x} is divided by zero"))));
        }
        BinaryOp::Divide if x.checked_rem(y) != Some(0) => {
            let message = format!("{x} / {y} is not a whole number");
            let help = format!("choose a multiple of {y}, or divide real numbers: `{x}.0 / {y}`");
            return Some(Err(Diagnostic::error(codes::ARITHMETIC, message).help(help)));
        }
        BinaryOp::Divide => x.checked_div(y),
        BinaryOp::Remainder => remainder(x, y),
        BinaryOp::Compare(comparison) => return Some(Ok(Value::Bool(compare(comparison, &x, &y)))),
        BinaryOp::Or | BinaryOp::And | BinaryOp::Matmul => return None,
    };
    Some(result.map(Value::int).ok_or_else(overflow))
}

fn bools(op: BinaryOp, x: bool, y: bool) -> Option<Value> {
    Some(Value::Bool(match op {
        BinaryOp::Or => x || y,
        BinaryOp::And => x && y,
        _ => return same(op, x == y),
    }))
}

/// A comparison of what is equal or not and has no order.
fn same(op: BinaryOp, equal: bool) -> Option<Value> {
    match op {
        BinaryOp::Compare(Comparison::Equal) => Some(Value::Bool(equal)),
        BinaryOp::Compare(Comparison::NotEqual) => Some(Value::Bool(!equal)),
        _ => None,
    }
}

/// Whether two values are equal; `None` where they cannot be compared.
pub(crate) fn equal(x: &Value, y: &Value) -> Option<bool> {
    match binary(BinaryOp::Compare(Comparison::Equal), x, y)?.ok()? {
        Value::Bool(equal) => Some(equal),
        _ => None,
    }
}

/// The items of two lists.
fn join(x: &List, y: &List) -> Result<Value, Diagnostic> {
    let items: Vec<Value> = x.items.iter().chain(&y.items).cloned().collect();
    if items.len() > MAX_LIST_ITEMS {
        return Err(Diagnostic::error(codes::LIMIT, format!("a list of more than {MAX_LIST_ITEMS} items")));
    }
    Value::list(items).ok_or_else(|| Diagnostic::bug("lists that are joined do not nest deeper"))
}

fn reals(op: BinaryOp, x: f64, y: f64) -> Option<Result<Value, Diagnostic>> {
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Subtract => x - y,
        BinaryOp::Multiply => x * y,
        BinaryOp::Power => x.powf(y),
        BinaryOp::Divide => x / y,
        BinaryOp::Remainder => real_remainder(x, y),
        BinaryOp::Compare(comparison) => return Some(Ok(Value::Bool(compare(comparison, &x, &y)))),
        BinaryOp::Or | BinaryOp::And | BinaryOp::Matmul => return None,
    };
    Some(finite(result))
}

/// A real number, unless it is infinite or NaN.
pub(crate) fn finite(value: f64) -> Result<Value, Diagnostic> {
    if value.is_finite() {
        return Ok(Value::Real(value));
    }
    Err(Diagnostic::error(codes::ARITHMETIC, "the result is not a finite number"))
}

fn compare<T: PartialOrd>(comparison: Comparison, x: &T, y: &T) -> bool {
    match comparison {
        Comparison::Equal => x == y,
        Comparison::NotEqual => x != y,
        Comparison::Less => x < y,
        Comparison::LessEqual => x <= y,
        Comparison::Greater => x > y,
        Comparison::GreaterEqual => x >= y,
    }
}

/// `-x` of a number; `None` for other values.
pub(super) fn negate(x: &Value) -> Option<Result<Value, Diagnostic>> {
    match x {
        Value::Int(x, _) => Some(x.checked_neg().map(Value::int).ok_or_else(overflow)),
        Value::Real(x) => Some(Ok(Value::Real(-x))),
        _ => None,
    }
}
