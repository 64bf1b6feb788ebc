//! `unpack`.

use super::shares::{COPIES, ROWS, Share, shares};
use crate::attr::Attr;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp};
use crate::operands::{Args, Operands};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, Shape};

static DIM: AttrKey<i64> =
    AttrKey::required("dim", "the dimension of ranks, from the end when negative; rows are the next one");

described! {
    /// The tensors that lie in one: `x[.., ranks, rows, ..]` to one `[.., rows of all ranks, ..]` for each part. Where several
    /// ranks in a row hold the same, the first one is taken. See [`Packing`](halite_tensor::Packing).
    ///
    /// The gradient puts the cotangents beside each other; that of a decomposition would add padded ones.
    #[derive(Debug)]
    pub(super) struct Unpack;
}

/// The shape of one part.
fn part_shape(x: &TensorType, dim: usize, share: &Share) -> Shape {
    let mut shape = x.shape().clone().into_dims();
    shape[dim] = shape[dim] / share.copies * share.rows.len();
    shape.remove(dim + 1);
    Shape::from(shape.as_slice())
}

impl CompositeDef for Unpack {
    fn name(&self) -> &str {
        "unpack"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec(), ROWS.spec(), COPIES.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let x = args[0];
        let dim = attrs.dim(&DIM, x)?;
        let shares = shares("unpack", attrs, x, dim)?;
        Ok(shares.iter().map(|share| x.with_shape(part_shape(x, dim, share))).collect())
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let ty = b.ty(args[0]).clone();
        let dim = attrs.dim(&DIM, &ty)?;
        let part = |share: Share| {
            let first = if share.copies == 1 {
                share.own(b, args[0], dim)?
            } else {
                let grouped = share.grouped(b, args[0], dim)?;
                b.slice_dim(grouped, dim + 1, 0, 1)?
            };
            b.reshape(first, part_shape(&ty, dim, &share))
        };
        shares("unpack", attrs, &ty, dim)?.into_iter().map(part).collect()
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let ty = b.ty(cx.args[0]).clone();
            let dim = attrs.dim(&DIM, &ty)?;
            let mut parts = Vec::with_capacity(cx.cts.len());
            for ((share, ct), &result) in shares("unpack", attrs, &ty, dim)?.iter().zip(cx.cts).zip(cx.results) {
                let ct = ct.map_or_else(|| b.splat_like(result, 0.0), Ok)?;
                let mut shape = ty.shape().clone().into_dims();
                (shape[dim], shape[dim + 1]) = (shape[dim] / share.copies, share.rows.len());
                parts.push(if share.copies == 1 {
                    b.reshape(ct, Shape::from(shape.as_slice()))?
                } else {
                    shape.insert(dim + 1, 1);
                    let first = b.reshape(ct, Shape::from(shape.as_slice()))?;
                    let all = b.pad_dim(first, dim + 1, 0, share.copies as i64 - 1, 0.0)?;
                    Share::ungrouped(b, all, dim)?
                });
            }
            Ok(Vjp::one(b.concatenate(&parts, dim + 1)?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let sample = |label, dim: i64, parts: &[[i64; 2]], shape: &[usize]| {
            let list = |of: usize| Attr::Ints(parts.iter().map(|part| part[of]).collect());
            let attrs = [DIM.to(dim), ("rows", list(0)), ("copies", list(1))];
            Sample::new(label, super::op(&Unpack, &attrs), [SampleArg::uniform(float, shape, -2.0, 2.0)])
        };
        vec![
            sample("one rank", -2, &[[2, 1], [1, 1]], &[2, 1, 3]),
            sample("two ranks", -2, &[[2, 1], [1, 1], [1, 1]], &[3, 2, 4]),
            sample("copies", -2, &[[1, 1], [2, 2], [1, 4]], &[2, 4, 4]),
            sample("rows first", 0, &[[1, 1], [2, 2]], &[2, 3, 2]),
        ]
    }
}
