//! `softmax` and its gradient.

use super::parts::gradient_by;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_binary, infer_unary};
use crate::policy::Follows;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

/// The dimension that sums to one; negative counts from the end.
pub static DIM: AttrKey<i64> =
    AttrKey::optional("dim", -1, "the dimension that sums to one; negative counts from the end");

described! {
    /// `exp(x - max(x)) / sum(exp(x - max(x)))` along one dimension.
    #[derive(Debug)]
    pub struct Softmax;
}

impl CompositeDef for Softmax {
    fn name(&self) -> &str {
        "softmax"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_unary("softmax", Takes::Float, args[0])?;
        attrs.dim(&DIM, args[0])?;
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let x = args[0];
        let dim = attrs.dim(&DIM, b.ty(x))?;
        let peak = b.reduce_max(x, &[dim])?;
        let peak = b.broadcast_missing(peak, x, &[dim])?;
        let shifted = b.subtract(x, peak)?;
        let powers = b.exponential(shifted)?;
        let total = b.reduce_sum(powers, &[dim])?;
        let total = b.broadcast_missing(total, x, &[dim])?;
        Ok(smallvec![b.divide(powers, total)?])
    }

    /// Needs the result only.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&SoftmaxGrad, |cx| vec![cx.results[0]]))
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE.results(&[Follows::Widest])
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let softmax = |dim: i64| super::op(&Softmax, &[DIM.to(dim)]);
        let huge = [1e4, -1e4, 0.0, 1e4];
        vec![
            Sample::new("last", softmax(-1), [SampleArg::uniform(float, [2, 5], -3.0, 3.0)]).ulps(16.0),
            Sample::new("first", softmax(0), [SampleArg::uniform(float, [4, 3], -3.0, 3.0)]).ulps(16.0),
            Sample::new("huge", softmax(-1), [SampleArg::listed(float, [1, 4], &huge)]).ulps(16.0),
        ]
    }
}

described! {
    /// The gradient of `softmax` from its result `y` and the cotangent `ct`: `y * (ct - sum(ct * y))`.
    #[derive(Debug)]
    pub(super) struct SoftmaxGrad;
}

impl CompositeDef for SoftmaxGrad {
    fn name(&self) -> &str {
        "softmax_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["y", "ct"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_binary("softmax_grad", Takes::Float, args[0], args[1])?;
        attrs.dim(&DIM, args[0])?;
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [y, ct] = args.required()?;
        let dim = attrs.dim(&DIM, b.ty(y))?;
        let weighted = b.multiply(ct, y)?;
        let total = b.reduce_sum(weighted, &[dim])?;
        let total = b.broadcast_missing(total, y, &[dim])?;
        let centered = b.subtract(ct, total)?;
        Ok(smallvec![b.multiply(y, centered)?])
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE.results(&[Follows::Widest])
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let grad = super::op(&SoftmaxGrad, &[DIM.to(-1)]);
        let args = [SampleArg::uniform(float, [2, 5], 0.1, 0.9), SampleArg::uniform(float, [2, 5], -1.0, 1.0)];
        vec![Sample::new("last", grad, args).ulps(16.0)]
    }
}
