//! `cumsum`.

use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::CompositeDef;
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

static DIM: AttrKey<i64> =
    AttrKey::optional("dim", -1, "the dimension that is summed along; negative counts from the end");
static REVERSE: AttrKey<bool> = AttrKey::refinement("reverse", false, "sum from the last element to the first");

described! {
    /// The sum of each element and those before it along one dimension. It is made in as many additions one after another as the size
    /// has binary digits: with each, sums reach twice as far (Hillis and Steele 1986).
    #[derive(Debug)]
    pub(super) struct Cumsum;
}

impl CompositeDef for Cumsum {
    fn name(&self) -> &str {
        "cumsum"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec(), REVERSE.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_unary("cumsum", Takes::Number, args[0])?;
        attrs.dim(&DIM, args[0])?;
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let (dim, reverse) = (attrs.dim(&DIM, b.ty(args[0]))?, attrs.get(&REVERSE)?);
        let size = b.shape(args[0])[dim];
        let (mut sums, mut reach) = (args[0], 1);
        while reach < size {
            let by = reach as i64;
            let (low, high) = if reverse { (-by, by) } else { (by, -by) };
            let moved = b.pad_dim(sums, dim, low, high, 0.0)?;
            sums = b.add(sums, moved)?;
            reach *= 2;
        }
        Ok(smallvec![sums])
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let cumsum = |dim: i64, reverse: bool| super::op(&Cumsum, &[DIM.to(dim), REVERSE.to(reverse)]);
        let arg = |sizes: [usize; 2]| [SampleArg::uniform(float, sizes, -1.0, 1.0)];
        vec![
            Sample::new("last", cumsum(-1, false), arg([2, 5])).ulps(16.0),
            Sample::new("first", cumsum(0, false), arg([8, 3])).ulps(16.0),
            Sample::new("backwards", cumsum(1, true), arg([2, 5])).ulps(16.0),
            Sample::new("one element", cumsum(1, false), arg([3, 1])),
            Sample::new("integers", cumsum(0, false), [SampleArg::whole(DType::S32, [9], -9, 9)]),
        ]
    }
}
