//! The mean over the batch and clipping by global norm, as one factor.

use super::Weight;
use crate::transform::packed::layout;
use halite_ir::{Attr, Builder, Value, Values};
use halite_support::{Diagnostic, Result};

/// Keeps the quotient finite when the norm is zero; the value of the reference implementations.
const NORM_EPSILON: f64 = 1e-6;

/// How gradients of the sum become clipped gradients of the mean.
pub(super) struct Clipped {
    /// Multiplies each gradient.
    pub(super) factor: Value,
    /// Global norm of the gradients of the mean, before clipping.
    pub(super) norm: Value,
}

/// Sums of squares are made in the type of `count`. `norm = |gradients| / count`, `factor = min(1, max_norm / (norm + 1e-6)) / count`.
pub(super) fn scale(b: &mut Builder<'_>, weights: &[Weight], count: Value, max_norm: Option<f64>) -> Result<Clipped> {
    let mut total = None;
    for weight in weights {
        for gradient in stored_once(b, weight)? {
            let gradient = b.convert(gradient, b.dtype(count))?;
            let square = b.multiply(gradient, gradient)?;
            let dims: Vec<usize> = (0..b.ty(square).rank()).collect();
            let sum = if dims.is_empty() { square } else { b.reduce_sum(square, &dims)? };
            total = Some(match total {
                Some(total) => b.add(total, sum)?,
                None => sum,
            });
        }
    }
    let total = total.ok_or_else(|| Diagnostic::bug("a training step without weights"))?;
    let root = b.sqrt(total)?;
    let norm = b.divide(root, count)?;
    let one = b.splat_like(count, 1.0)?;
    let factor = match max_norm {
        Some(max_norm) => {
            let guarded = b.add_scalar(norm, NORM_EPSILON)?;
            let limit = b.splat_like(norm, max_norm)?;
            let ratio = b.divide(limit, guarded)?;
            b.minimum(one, ratio)?
        }
        None => one,
    };
    let factor = b.divide(factor, count)?;
    Ok(Clipped { factor, norm })
}

/// The gradient of a weight; its parts where the weight stores elements of the model several times.
fn stored_once(b: &mut Builder<'_>, weight: &Weight) -> Result<Values> {
    match weight.packing.as_deref().filter(|packing| packing.has_copies()) {
        None => Ok(Values::from_slice(&[weight.gradient])),
        Some(packing) => {
            let [rows, copies] = layout(packing);
            b.composite("unpack", &[("dim", Attr::Int(0)), rows, copies], &[weight.gradient])
        }
    }
}
