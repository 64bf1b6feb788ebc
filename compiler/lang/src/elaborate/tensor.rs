//! Operators on tensors.

use super::expr::from_end;
use super::value::Value;
use super::{Elaborator, Eval, Locals, Tensor};
use crate::ast::{BinaryOp, Comparison, Expr, Subscript};
use halite_ir::ops::{Direction, DotGeneral};
use halite_ir::{Builder, Op};
use halite_support::{Diagnostic, Result, Span, codes};
use halite_tensor::{DType, Dims, Shape};

impl Elaborator<'_, '_> {
    /// Applies a primitive without attributes.
    pub(super) fn primitive(&mut self, name: &str, args: &[Tensor], span: Span) -> Eval<Value> {
        let op: Option<Op> = self.primitives.iter().find(|op| op.name() == name).cloned();
        self.emit_tensor(span, |b| match op {
            Some(op) => b.emit(op, args),
            None => Err(Diagnostic::bug(format!("no primitive is named `{name}`"))),
        })
    }

    /// An operator with at least one tensor. A number takes the element type and shape of the tensor; a tensor of lower
    /// rank is repeated along the leading dimensions of the other.
    pub(super) fn tensor_binary(
        &mut self,
        op: BinaryOp,
        (x, left): (&Value, &Expr),
        (y, right): (&Value, &Expr),
        span: Span,
    ) -> Eval<Value> {
        if op == BinaryOp::Matmul {
            return self.matmul((x, left), (y, right), span);
        }
        let (x, y) = self.operands((x, left), (y, right), span)?;
        match op {
            BinaryOp::Compare(comparison) => self.emit_tensor(span, |b| b.compare(x, y, direction(comparison))),
            _ => self.primitive(primitive_name(op), &[x, y], span),
        }
    }

    /// Two operands as tensors of one shape.
    pub(super) fn operands(
        &mut self,
        (x, left): (&Value, &Expr),
        (y, right): (&Value, &Expr),
        span: Span,
    ) -> Eval<(Tensor, Tensor)> {
        match (x, y) {
            (Value::Tensor(x), Value::Tensor(y)) => self.emit(span, |b| align(b, *x, *y)),
            (Value::Tensor(x), number) => Ok((*x, self.fill_like(*x, number, right)?)),
            (number, Value::Tensor(y)) => Ok((self.fill_like(*y, number, left)?, *y)),
            (other, _) => Err(self.wrong_kind("a tensor", other, left)),
        }
    }

    /// A number as a tensor of the type of `like`.
    fn fill_like(&mut self, like: Tensor, number: &Value, at: &Expr) -> Eval<Tensor> {
        let ty = self.b.ty(like).clone();
        self.fill(ty.dtype(), ty.shape().clone(), number, at)
    }

    /// A number as a tensor.
    pub(super) fn fill(&mut self, dtype: DType, shape: Shape, number: &Value, at: &Expr) -> Eval<Tensor> {
        let value = match number {
            Value::Int(value) if dtype.is_float() || in_range(dtype, *value) => Some(*value as f64),
            Value::Real(value) if dtype.is_float() => Some(*value),
            Value::Bool(value) if dtype == DType::Pred => Some(f64::from(u8::from(*value))),
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.wrong_kind(&format!("a number that `{dtype}` can hold"), number, at));
        };
        self.emit(at.span, |b| b.splat(dtype, shape, value))
    }

    fn matmul(&mut self, (x, left): (&Value, &Expr), (y, right): (&Value, &Expr), span: Span) -> Eval<Value> {
        match (x, y) {
            (Value::Tensor(x), Value::Tensor(y)) => self.emit_tensor(span, |b| matmul(b, *x, *y)),
            (Value::Tensor(_), other) => Err(self.wrong_kind("a tensor", other, right)),
            (other, _) => Err(self.wrong_kind("a tensor", other, left)),
        }
    }

    /// `x[1:, 0]`: ranges keep their dimension, single positions drop it.
    pub(super) fn slice(&mut self, x: Tensor, subscripts: &[Subscript], span: Span, locals: &Locals) -> Eval<Value> {
        let shape = self.b.shape(x).clone();
        if subscripts.len() > shape.rank() {
            let message =
                format!("`{}` has rank {}, found {} subscripts", self.b.ty(x), shape.rank(), subscripts.len());
            return Err(self.error(codes::SHAPE, message, span, "too many subscripts"));
        }
        let (mut start, mut limit): (Dims, Dims) = (shape.iter().map(|_| 0).collect(), shape.iter().copied().collect());
        let mut kept: Dims = Dims::new();
        for (dim, &size) in shape.iter().enumerate() {
            match subscripts.get(dim) {
                Some(Subscript::At(at)) => {
                    start[dim] = self.position(at, size, locals)?;
                    limit[dim] = start[dim] + 1;
                    continue;
                }
                Some(Subscript::Range(from, to)) => {
                    (start[dim], limit[dim]) = self.range(from.as_ref(), to.as_ref(), size, span, locals)?;
                }
                None => {}
            }
            kept.push(limit[dim] - start[dim]);
        }
        self.emit_tensor(span, |b| {
            let whole = limit[..] == shape[..] && start.iter().all(|&start| start == 0);
            let slice = if whole { x } else { b.slice(x, &start, &limit)? };
            if kept.len() == shape.rank() { Ok(slice) } else { b.reshape(slice, Shape::from(kept)) }
        })
    }

    fn range(
        &mut self,
        from: Option<&Expr>,
        to: Option<&Expr>,
        size: usize,
        span: Span,
        locals: &Locals,
    ) -> Eval<(usize, usize)> {
        let from = from.map_or(Ok(0), |from| self.int(from, locals));
        let to = to.map_or(Ok(size as i64), |to| self.int(to, locals));
        let (from, to) = (from?, to?);
        match (from_end(from, size), from_end(to, size)) {
            (Some(start), Some(limit)) if start < limit && limit <= size => Ok((start, limit)),
            _ => {
                let message = format!("the range {from}:{to} does not lie within size {size}");
                let error = Diagnostic::error(codes::SHAPE, message).at(span, "here");
                Err(self.report(error.help("leave out the end to take the rest: `x[1:]`, or choose another range")))
            }
        }
    }
}

/// Repeats the operand of lower rank along the leading dimensions of the other.
fn align(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<(Tensor, Tensor)> {
    let (rank_x, rank_y) = (b.ty(x).rank(), b.ty(y).rank());
    if rank_x == rank_y && b.shape(x) != b.shape(y) {
        let message = format!("`{}` and `{}` have different shapes", b.ty(x), b.ty(y));
        return Err(Diagnostic::error(codes::SHAPE, message).help("repeat one with `broadcast(x, shape)`"));
    }
    if rank_x == rank_y {
        return Ok((x, y));
    }
    if rank_x < rank_y { Ok((repeat_like(b, x, y)?, y)) } else { Ok((x, repeat_like(b, y, x)?)) }
}

fn repeat_like(b: &mut Builder<'_>, low: Tensor, high: Tensor) -> Result<Tensor> {
    let shape = b.shape(high).clone();
    let first = shape.rank() - b.ty(low).rank();
    if b.shape(low)[..] != shape[first..] {
        let message = format!("`{}` does not match the last dimensions of `{}`", b.ty(low), b.ty(high));
        return Err(Diagnostic::error(codes::SHAPE, message).help("use `broadcast(x, shape)` or `reshape(x, shape)`"));
    }
    let dims: Dims = (first..shape.rank()).collect();
    b.broadcast_in_dim(low, &dims, shape)
}

/// The last dimension of `x` with the one before the last of `y`; leading dimensions of `y` are batch dimensions.
fn matmul(b: &mut Builder<'_>, x: Tensor, y: Tensor) -> Result<Tensor> {
    let (rank_x, rank_y) = (b.ty(x).rank(), b.ty(y).rank());
    if rank_x == 0 || rank_y < 2 || (rank_y > 2 && rank_x != rank_y) {
        let message = format!("`@` does not take `{}` and `{}`", b.ty(x), b.ty(y));
        let help = "the right operand is a matrix, or both have the same leading dimensions";
        return Err(Diagnostic::error(codes::SHAPE, message).help(help));
    }
    let batch: Dims = (0..rank_y - 2).collect();
    let dtype = b.dtype(x);
    let accumulate = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let contract = (Dims::from_slice(&[rank_x - 1]), Dims::from_slice(&[rank_y - 2]));
    let product = b.emit(DotGeneral { batch: (batch.clone(), batch), contract, accumulate }, &[x, y])?;
    b.convert(product, dtype)
}

fn in_range(dtype: DType, value: i64) -> bool {
    const EXACT: u64 = 1 << 53;
    let fits = |(low, high): (i128, i128)| (low..=high).contains(&i128::from(value));
    dtype != DType::Pred && value.unsigned_abs() <= EXACT && dtype.int_range().is_some_and(fits)
}

fn primitive_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "or",
        BinaryOp::And => "and",
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "subtract",
        BinaryOp::Multiply => "multiply",
        BinaryOp::Divide => "divide",
        BinaryOp::Remainder => "remainder",
        BinaryOp::Compare(_) => "compare",
        BinaryOp::Matmul => "dot_general",
    }
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
