//! Pieces that several decompositions share, so that equal pieces become equal instructions.

use crate::attrs::Attrs;
use crate::build::{Builder, present};
use crate::composite::{Composite, CompositeDef, VjpRule, VjpRuleCx};
use crate::op::{Vjp, shape_error};
use crate::ops::Op;
use crate::syntax::Value;
use crate::ty::TensorType;
use halite_support::Result;
use halite_tensor::Dims;

/// An application of a definition with the attributes of another one of the same schema.
pub(super) fn sibling(def: &dyn CompositeDef, attrs: &Attrs) -> Composite {
    Composite::of(def, attrs.clone())
}

/// The gradient that is a composite of its own, with the attributes of the one that is differentiated, on what
/// `reads` takes of the instruction and the cotangent of its only result.
pub(super) fn gradient_by(def: &'static dyn CompositeDef, reads: fn(&VjpRuleCx<'_>) -> Vec<Value>) -> VjpRule<'static> {
    Box::new(move |b, attrs, cx| {
        let mut args = reads(cx);
        args.push(present(cx.ct())?);
        let cts = b.emit_all(sibling(def, attrs), &args)?;
        Ok(Vjp::of(cts.into_iter().map(Some)))
    })
}

/// The mean over the last dimension, without that dimension.
pub(super) fn mean_last(b: &mut Builder<'_>, x: Value) -> Result<Value> {
    let last = b.shape(x).rank() - 1;
    let size = b.shape(x)[last];
    let total = b.reduce_sum(x, &[last])?;
    b.multiply_scalar(total, 1.0 / size as f64)
}

/// Repeats `x`, which lacks the last dimension of `like`, along it.
pub(super) fn spread_last(b: &mut Builder<'_>, x: Value, like: Value) -> Result<Value> {
    let last = b.shape(like).rank() - 1;
    b.broadcast_missing(x, like, &[last])
}

/// Repeats a vector along all dimensions of `like` but the last.
pub(super) fn spread_vector(b: &mut Builder<'_>, x: Value, like: Value) -> Result<Value> {
    let shape = b.shape(like).clone();
    b.broadcast_in_dim(x, &[shape.rank() - 1], shape)
}

/// The sum over all dimensions but the last: the gradient of [`spread_vector`].
pub(super) fn sum_to_vector(b: &mut Builder<'_>, x: Value) -> Result<Value> {
    let leading: Dims = (0..b.shape(x).rank() - 1).collect();
    b.reduce_sum(x, &leading)
}

/// Checks that `x` has a last dimension and returns its size.
pub(super) fn last_size(op: &str, x: &TensorType) -> Result<usize> {
    let message = || shape_error(format!("`{op}` works along the last dimension, but `{x}` has none"));
    x.shape().last().copied().ok_or_else(message)
}

/// Checks a vector with one element for each position of the last dimension of `x`.
pub(super) fn require_vector(op: &str, role: &str, x: &TensorType, vector: &TensorType) -> Result<()> {
    let expected = x.with_shape([last_size(op, x)?]);
    if vector == &expected {
        return Ok(());
    }
    Err(shape_error(format!("the {role} of `{op}` of `{x}` is `{expected}`, found `{vector}`")))
}

/// `op` of `x` and the same word for each element.
pub(super) fn with_word(b: &mut Builder<'_>, op: impl Into<Op>, x: Value, word: u32) -> Result<Value> {
    let word = b.splat_like(x, f64::from(word))?;
    b.emit(op, &[x, word])
}
