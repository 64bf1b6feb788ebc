//! Operators.

use super::broadcast::{fit, joint, joint_batch};
use super::division::tensor_remainder;
use super::{Ops, Part, Place, Spans, Value, arithmetic};
use crate::ast::{BinaryOp, Comparison};
use halite_ir::ops::{Direction, DotGeneral};
use halite_ir::{Builder, Value as Tensor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::rounding::turns_into;
use halite_tensor::{DType, Dims, Shape};

/// A value and where it stands.
type At<'a> = (&'a Value, Place<'a>);

impl Ops<'_> {
    /// `-x`.
    pub(crate) fn negate(&mut self, x: &Value, spans: &dyn Spans) -> Result<Value> {
        let (whole, part) = (Place::whole(spans), Place::new(spans, Part::Given(0)));
        if let Value::Tensor(tensor) = x {
            return self.emit_tensor(whole, |b| b.negate(*tensor));
        }
        match arithmetic::negate(x) {
            Some(result) => result.map_err(|error| whole.mark(error, "here")),
            None => Err(self.wrong_kind("a number or a tensor", x, part)),
        }
    }

    /// `not x`.
    pub(crate) fn not(&mut self, x: &Value, spans: &dyn Spans) -> Result<Value> {
        match x {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            Value::Tensor(tensor) => self.emit_tensor(Place::whole(spans), |b| b.not(*tensor)),
            other => Err(self.wrong_kind("`true`, `false` or a tensor", other, Place::new(spans, Part::Given(0)))),
        }
    }

    /// An infix operator on numbers, or on at least one tensor.
    pub(crate) fn binary(&mut self, op: BinaryOp, x: &Value, y: &Value, spans: &dyn Spans) -> Result<Value> {
        let whole = Place::whole(spans);
        let (left, right) = ((x, Place::new(spans, Part::Given(0))), (y, Place::new(spans, Part::Given(1))));
        if matches!(x, Value::Tensor(_)) || matches!(y, Value::Tensor(_)) {
            return self.tensor_binary(op, left, right, whole);
        }
        match arithmetic::binary(op, x, y) {
            Some(result) => result.map_err(|error| whole.mark(error, "here")).and_then(|value| self.made(value, whole)),
            None => {
                let message = format!("this operator does not take {} and {}", self.describe(x), self.describe(y));
                Err(whole.mark(Diagnostic::error(codes::KIND, message), "here"))
            }
        }
    }

    /// A number takes the element type and shape of the tensor; two tensors are repeated to the shape that they have in common.
    fn tensor_binary(&mut self, op: BinaryOp, left: At<'_>, right: At<'_>, whole: Place<'_>) -> Result<Value> {
        if op == BinaryOp::Matmul {
            let (x, y) = (self.tensor(left.0, left.1)?, self.tensor(right.0, right.1)?);
            return self.emit_tensor(whole, |b| matmul(b, x, y));
        }
        if let (BinaryOp::Power, (Value::Tensor(base), _), Some(exponent)) = (op, left, right.0.as_real()) {
            return self.power(*base, exponent, whole);
        }
        let (x, y) = self.operands(left, right, whole)?;
        if op == BinaryOp::Divide && !self.b.dtype(x).is_float() {
            return Err(whole.mark(undivided(&format!("`{}` by `{}`", self.b.ty(x), self.b.ty(y))), "here"));
        }
        self.emit_tensor(whole, |b| match op {
            BinaryOp::Or => b.or(x, y),
            BinaryOp::And => b.and(x, y),
            BinaryOp::Add => b.add(x, y),
            BinaryOp::Subtract => b.subtract(x, y),
            BinaryOp::Multiply => b.multiply(x, y),
            BinaryOp::Power => b.power(x, y),
            BinaryOp::Divide => b.divide(x, y),
            BinaryOp::Remainder => tensor_remainder(b, x, y),
            BinaryOp::Compare(comparison) => b.compare(x, y, direction(comparison)),
            BinaryOp::Matmul => matmul(b, x, y),
        })
    }

    /// A tensor to the power of a number. Small whole powers are products, whose derivatives are exact everywhere.
    fn power(&mut self, x: Tensor, exponent: f64, whole: Place<'_>) -> Result<Value> {
        if let Some(exponent) = small_power(exponent) {
            return self.emit_tensor(whole, |b| product(b, x, exponent));
        }
        if exponent == 0.5 {
            return self.emit_tensor(whole, |b| b.sqrt(x));
        }
        let exponent = self.fill_like(x, &Value::Real(exponent), whole)?;
        self.emit_tensor(whole, |b| b.power(x, exponent))
    }

    /// Two operands as tensors of one shape.
    pub(super) fn operands(&mut self, left: At<'_>, right: At<'_>, whole: Place<'_>) -> Result<(Tensor, Tensor)> {
        match (left.0, right.0) {
            (Value::Tensor(x), Value::Tensor(y)) => self.emit(whole, |b| align(b, *x, *y)),
            (Value::Tensor(x), number) => Ok((*x, self.fill_like(*x, number, right.1)?)),
            (number, Value::Tensor(y)) => Ok((self.fill_like(*y, number, left.1)?, *y)),
            (other, _) => Err(self.wrong_kind("a tensor", other, left.1)),
        }
    }

    /// A number as a tensor of the type of `like`.
    fn fill_like(&mut self, like: Tensor, number: &Value, place: Place<'_>) -> Result<Tensor> {
        let ty = self.b.ty(like).clone();
        self.fill(ty.dtype(), ty.shape().clone(), number, place)
    }

    /// A number as a tensor.
    pub(super) fn fill(&mut self, dtype: DType, shape: Shape, number: &Value, place: Place<'_>) -> Result<Tensor> {
        let value = match number {
            Value::Int(value, _) if dtype.is_float() || in_range(dtype, *value) => Some(*value as f64),
            Value::Real(value) if dtype.is_float() => Some(*value),
            Value::Bool(value) if dtype == DType::Pred => Some(f64::from(u8::from(*value))),
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.wrong_kind(&format!("a number that `{dtype}` can hold"), number, place));
        };
        if let Some(told) = turns_into(dtype, value) {
            let error = Diagnostic::error(codes::ARITHMETIC, format!("{value:?} is {told} in `{dtype}`"));
            let help = "choose a number that this type holds, or compute with it before it meets a tensor";
            return Err(place.mark(error, "rounded here").help(help));
        }
        self.emit(place, |b| b.splat(dtype, shape, value))
    }
}

/// That whole numbers are divided, which may leave something.
pub(super) fn undivided(what: &str) -> Diagnostic {
    let message = format!("a division of whole numbers may leave something, found {what}");
    let help = "write `floor_divide(x, y)` to round down, or divide reals: `convert(x, float)`";
    Diagnostic::error(codes::ARITHMETIC, message).help(help)
}

/// Two tensors repeated to the shape that they have in common.
fn align(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<(Tensor, Tensor)> {
    let shape = joint(b, x, y)?;
    Ok((fit(b, x, &shape)?, fit(b, y, &shape)?))
}

/// The last dimension of `x` with the one before the last of `y`. Where `y` has leading dimensions, both are repeated to what they have in
/// common there.
fn matmul(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<Tensor> {
    let (rank_x, rank_y) = (b.ty(x).rank(), b.ty(y).rank());
    if rank_x == 0 || rank_y < 2 || (rank_y > 2 && rank_x < 2) {
        let message = format!("`@` does not take `{}` and `{}`", b.ty(x), b.ty(y));
        let help = "the right operand is a matrix, or both have leading dimensions";
        return Err(Diagnostic::error(codes::SHAPE, message).help(help));
    }
    if rank_y == 2 {
        return product_of_matrices(b, x, y);
    }
    let batch = joint_batch(b, x, y)?;
    let repeated = |b: &Builder<'_>, x: Tensor| -> Shape {
        batch.iter().chain(&b.shape(x)[b.ty(x).rank() - 2..]).copied().collect()
    };
    let (left, right) = (repeated(b, x), repeated(b, y));
    let (x, y) = (fit(b, x, &left)?, fit(b, y, &right)?);
    product_of_matrices(b, x, y)
}

/// The same where the leading dimensions of `y`, if there are any, are those of `x`.
fn product_of_matrices(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<Tensor> {
    let (rank_x, rank_y) = (b.ty(x).rank(), b.ty(y).rank());
    let batch: Dims = (0..rank_y - 2).collect();
    dot(b, [x, y], (batch.clone(), batch), (Dims::from_slice(&[rank_x - 1]), Dims::from_slice(&[rank_y - 2])))
}

/// A product over dimensions of two tensors, in their element type; sums are taken in `f32`, of `f64` in `f64`.
pub(super) fn dot(
    b: &mut Builder<'_>,
    operands: [Tensor; 2],
    batch: (Dims, Dims),
    contract: (Dims, Dims),
) -> Result<Tensor> {
    let dtype = b.dtype(operands[0]);
    let accumulate = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let product = b.emit(DotGeneral { batch, contract, accumulate }, &operands)?;
    b.convert(product, dtype)
}

/// A power that is written as products.
fn small_power(exponent: f64) -> Option<u32> {
    (1..=8).find(|&small| f64::from(small) == exponent)
}

/// `x` to this power, at least 1, by squaring.
fn product(b: &mut Builder<'_>, x: Tensor, mut exponent: u32) -> Result<Tensor> {
    let (mut square, mut result) = (x, None);
    loop {
        if exponent % 2 == 1 {
            result = Some(match result {
                Some(result) => b.multiply(result, square)?,
                None => square,
            });
        }
        exponent /= 2;
        match result {
            Some(result) if exponent == 0 => return Ok(result),
            _ => square = b.multiply(square, square)?,
        }
    }
}

fn in_range(dtype: DType, value: i64) -> bool {
    const EXACT: u64 = 1 << 53;
    let fits = |(low, high): (i128, i128)| (low..=high).contains(&i128::from(value));
    dtype != DType::Pred && value.unsigned_abs() <= EXACT && dtype.int_range().is_some_and(fits)
}

fn direction(comparison: Comparison) -> Direction {
    match comparison {
        Comparison::Equal => Direction::Eq,
        Comparison::NotEqual => Direction::Ne,
        Comparison::Less => Direction::Lt,
        Comparison::LessEqual => Direction::Le,
        Comparison::Greater => Direction::Gt,
        Comparison::GreaterEqual => Direction::Ge,
    }
}
