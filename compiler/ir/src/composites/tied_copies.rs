//! `tied_copies`.

use super::shares::{COPIES, ROWS, Share, shares};
use crate::attr::Attr;
use crate::attrs::{AttrSpec, Attrs};
use crate::build::{Builder, Values, present};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp};
use crate::operands::{Args, Operands};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

described! {
    /// A weight `[ranks, rows, ..]` of which some ranks in a row hold the same: the weight itself, as one that stays so. See
    /// [`Packing`](halite_tensor::Packing).
    ///
    /// The gradient is not the derivative by each element, but by all copies of it together: every copy gets the sum of their
    /// cotangents. So equal copies get equal updates.
    #[derive(Debug)]
    pub(super) struct TiedCopies;
}

impl CompositeDef for TiedCopies {
    fn name(&self) -> &str {
        "tied_copies"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![ROWS.spec(), COPIES.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let x = args[0];
        shares("tied_copies", attrs, x, 0)?;
        Ok(smallvec![x.clone()])
    }

    fn expand(&self, _: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        Ok(smallvec![args[0]])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let ct = present(cx.ct())?;
            let mut parts = Vec::new();
            for share in shares("tied_copies", attrs, b.ty(cx.args[0]), 0)? {
                parts.push(if share.copies == 1 {
                    share.own(b, ct, 0)?
                } else {
                    let copies = share.grouped(b, ct, 0)?;
                    let sum = b.reduce_sum(copies, &[1])?;
                    let all = b.broadcast_missing(sum, copies, &[1])?;
                    Share::ungrouped(b, all, 0)?
                });
            }
            Ok(Vjp::one(b.concatenate(&parts, 1)?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let sample = |label, rows: [i64; 2], copies: [i64; 2], shape: &[usize]| {
            let list = |list: [i64; 2]| Attr::Ints(list.into_iter().collect());
            let attrs = [("rows", list(rows)), ("copies", list(copies))];
            Sample::new(label, super::op(&TiedCopies, &attrs), [SampleArg::uniform(float, shape, -2.0, 2.0)])
        };
        vec![
            sample("single", [2, 1], [1, 1], &[2, 3, 2]),
            sample("copies", [2, 1], [1, 2], &[4, 3, 2]),
            sample("bias", [1, 1], [2, 4], &[4, 2]),
        ]
    }
}
