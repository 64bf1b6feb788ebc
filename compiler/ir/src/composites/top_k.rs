//! `top_k`.

use super::parts::last_size;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::Direction;
use crate::ops::class::{Takes, require_elements};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;

/// The number of elements of each row, at least 1.
pub static K: AttrKey<i64> = AttrKey::required("k", "how many elements of each row, at least 1");

described! {
    /// The `k` largest elements along the last dimension, largest first, and their positions as `s32`. Of equal elements the
    /// first comes first; NaN counts as larger than everything. The decomposition has some ten instructions for each of the
    /// `k`.
    #[derive(Debug)]
    pub struct TopK;
}

impl TopK {
    /// The number of elements that are taken of each row, and the size of a row.
    fn sizes(attrs: &Attrs, x: &TensorType) -> Result<(usize, usize)> {
        let (k, size) = (attrs.get(&K)?, last_size("top_k", x)?);
        match usize::try_from(k).ok().filter(|k| (1..=size).contains(k)) {
            Some(k) if i32::try_from(size).is_ok() => Ok((k, size)),
            _ => Err(shape_error(format!("`top_k` cannot take {k} of the {size} elements of each row of `{x}`"))),
        }
    }
}

/// A whole number for every element of a tensor of this shape.
fn whole(b: &mut Builder<'_>, shape: &Shape, value: usize) -> Result<Value> {
    let scalar = b.constant(HostTensor::from_ints(DType::S32, [], [value as i128]))?;
    b.broadcast_in_dim(scalar, &[], shape.clone())
}

impl CompositeDef for TopK {
    fn name(&self) -> &str {
        "top_k"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![K.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let x = args[0];
        require_elements("top_k", Takes::Float, x)?;
        let (k, _) = Self::sizes(attrs, x)?;
        let mut shape = x.shape().clone();
        shape[x.rank() - 1] = k;
        Ok(smallvec![x.with_shape(shape.clone()), TensorType::new(DType::S32, shape)])
    }

    /// Takes the first largest of the elements that are left, `k` times.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let x = args[0];
        let (k, size) = Self::sizes(attrs, b.ty(x))?;
        let (shape, last) = (b.shape(x).clone(), b.shape(x).rank() - 1);
        let mut column = shape.clone();
        column[last] = 1;
        let positions = b.iota(DType::S32, shape.clone(), last)?;
        let beyond = whole(b, &shape, size)?;
        let lowest = b.splat_like(x, f64::NEG_INFINITY)?;
        let nan = b.compare(x, x, Direction::Ne)?;
        let mut left = b.splat(DType::Pred, shape, 1.0)?;
        let mut indices = Vec::with_capacity(k);
        for _ in 0..k {
            let rest = b.select(left, x, lowest)?;
            let peak = b.reduce_max(rest, &[last])?;
            let peak = b.broadcast_missing(peak, x, &[last])?;
            let equal = b.compare(x, peak, Direction::Eq)?;
            let holds = b.or(equal, nan)?;
            let holds = b.and(holds, left)?;
            let candidates = b.select(holds, positions, beyond)?;
            let first = b.reduce_min(candidates, &[last])?;
            indices.push(b.reshape(first, column.clone())?);
            let first = b.broadcast_missing(first, x, &[last])?;
            let other = b.compare(positions, first, Direction::Ne)?;
            left = b.and(left, other)?;
        }
        let indices = b.concatenate(&indices, last)?;
        Ok(smallvec![b.take_along_axis(x, indices, last)?, indices])
    }

    /// The gradient of reading the values at the positions, which do not move with small changes.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, _, cx| {
            let Some(ct) = cx.cts[0] else { return Ok(Vjp::zeros(1)) };
            let last = b.shape(cx.args[0]).rank() - 1;
            let size = b.shape(cx.args[0])[last];
            Ok(Vjp::one(b.take_along_axis_grad(ct, cx.results[1], last, size)?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::EXACT
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let top = |k: i64| super::op(&TopK, &[K.to(k)]);
        let special = [f64::NEG_INFINITY, 1.0, f64::NAN, 1.0, f64::INFINITY, f64::NEG_INFINITY];
        vec![
            Sample::new("some", top(3), [SampleArg::uniform(float, [2, 3, 5], -3.0, 3.0)]),
            Sample::new("one", top(1), [SampleArg::uniform(float, [4, 3], -3.0, 3.0)]),
            Sample::new("vector", top(2), [SampleArg::uniform(float, [7], -3.0, 3.0)]),
            Sample::new("ties", top(3), [SampleArg::listed(float, [4], &[1.0, 3.0, 3.0, 1.0])]),
            Sample::new("special", top(6), [SampleArg::listed(float, [1, 6], &special)]),
        ]
    }
}
