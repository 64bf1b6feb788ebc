//! Tensors repeated to a shape, as NumPy does it: shapes are aligned at their last dimensions, and what is missing or of size 1
//! is repeated.

use super::elements;
use halite_ir::{Builder, Value as Tensor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Dims, Shape};

/// The shape that two tensors are repeated to.
///
/// # Errors
/// When two sizes differ and none of them is 1, or there would be too many elements.
pub(super) fn joint(b: &Builder<'_>, x: Tensor, y: Tensor) -> Result<Shape> {
    let shape = common(b.shape(x), b.shape(y)).map_err(|clash| refuse(b, [x, y], clash))?;
    bounded(b, [x, y], shape)
}

/// The same for the dimensions before the last two of each.
///
/// # Errors
/// As [`joint`].
pub(super) fn joint_batch(b: &Builder<'_>, x: Tensor, y: Tensor) -> Result<Shape> {
    let leading = |tensor: Tensor| &b.shape(tensor)[..b.ty(tensor).rank() - 2];
    let shape = common(leading(x), leading(y)).map_err(|(dim, sizes)| refuse(b, [x, y], (dim - 2, sizes)))?;
    bounded(b, [x, y], shape)
}

fn bounded(b: &Builder<'_>, [x, y]: [Tensor; 2], shape: Shape) -> Result<Shape> {
    if elements(&shape).is_some() {
        return Ok(shape);
    }
    let message = format!("`{}` and `{}` repeated to {shape} have too many elements", b.ty(x), b.ty(y));
    Err(Diagnostic::error(codes::LIMIT, message))
}

/// A dimension, counted from the end, that two shapes do not go together in, and both sizes.
type Clash = (i64, [usize; 2]);

fn common(x: &[usize], y: &[usize]) -> std::result::Result<Shape, Clash> {
    let rank = x.len().max(y.len());
    let size = |shape: &[usize], dim: usize| (dim + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    let one = |dim: usize| match (size(x, dim), size(y, dim)) {
        (own, 1) => Ok(own),
        (1, other) => Ok(other),
        (own, other) if own == other => Ok(own),
        (own, other) => Err((dim as i64 - rank as i64, [own, other])),
    };
    (0..rank).map(one).collect()
}

fn refuse(b: &Builder<'_>, [x, y]: [Tensor; 2], (dim, [left, right]): Clash) -> Diagnostic {
    let message = format!("`{}` and `{}` do not fit together: dimension {dim} is {left} and {right}", b.ty(x), b.ty(y));
    let help = match is_prefix(b.shape(x), b.shape(y)) {
        true => "shapes are aligned at their last dimensions: add one of size 1 with `reshape(x, shape)`",
        false => "make the two equal or one of them 1, e.g. with `reshape(x, shape)` or a slice",
    };
    Diagnostic::error(codes::SHAPE, message).help(help)
}

/// Whether the shorter shape is the beginning of the other: people mean this who forget where shapes are aligned.
fn is_prefix(x: &[usize], y: &[usize]) -> bool {
    x.len() != y.len() && x.iter().zip(y).all(|(x, y)| x == y)
}

/// A tensor repeated to a shape; `None` where it cannot be.
pub(super) fn repeat(b: &mut Builder<'_>, x: Tensor, shape: &Shape) -> Option<Result<Tensor>> {
    let own = b.shape(x).clone();
    let first = shape.rank().checked_sub(own.rank())?;
    if own.iter().zip(&shape[first..]).any(|(&own, &size)| own != size && own != 1) {
        return None;
    }
    let full: Vec<usize> = (0..own.rank()).filter(|&dim| own[dim] == shape[first + dim]).collect();
    let squeezed: Shape = full.iter().map(|&dim| own[dim]).collect();
    let dims: Dims = full.iter().map(|dim| first + dim).collect();
    let x = if squeezed == own { Ok(x) } else { b.reshape(x, squeezed) };
    Some(x.and_then(|x| b.broadcast_in_dim(x, &dims, shape.clone())))
}

/// The same of a shape that it is known to fit; one that it has already adds nothing.
pub(super) fn fit(b: &mut Builder<'_>, x: Tensor, shape: &Shape) -> Result<Tensor> {
    if b.shape(x) == shape {
        return Ok(x);
    }
    repeat(b, x, shape).unwrap_or_else(|| Err(Diagnostic::bug("a tensor does not fit the shape that was made for it")))
}
