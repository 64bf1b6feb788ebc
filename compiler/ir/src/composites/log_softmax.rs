//! `log_softmax` and its gradient.

use super::parts::gradient_by;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_binary, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

static DIM: AttrKey<i64> =
    AttrKey::optional("dim", -1, "the dimension that is normalized; negative counts from the end");

described! {
    /// `x - max(x) - log(sum(exp(x - max(x))))` along one dimension.
    #[derive(Debug)]
    pub(super) struct LogSoftmax;
}

/// The parts of a logarithmic softmax along a dimension.
pub(super) struct LogSoftmaxParts {
    /// `max(x)`, without the dimension.
    pub(super) peak: Value,
    /// `x - max(x)`.
    pub(super) shifted: Value,
    /// `log(sum(exp(x - max(x))))`, without the dimension.
    pub(super) log_total: Value,
}

pub(super) fn log_softmax_parts(b: &mut Builder<'_>, x: Value, dim: usize) -> Result<LogSoftmaxParts> {
    let peak = b.reduce_max(x, &[dim])?;
    let spread = b.broadcast_missing(peak, x, &[dim])?;
    let shifted = b.subtract(x, spread)?;
    let powers = b.exponential(shifted)?;
    let total = b.reduce_sum(powers, &[dim])?;
    Ok(LogSoftmaxParts { peak, shifted, log_total: b.log(total)? })
}

impl CompositeDef for LogSoftmax {
    fn name(&self) -> &str {
        "log_softmax"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_unary("log_softmax", Takes::Float, args[0])?;
        attrs.dim(&DIM, args[0])?;
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let dim = attrs.dim(&DIM, b.ty(args[0]))?;
        let LogSoftmaxParts { shifted, log_total, .. } = log_softmax_parts(b, args[0], dim)?;
        let log_total = b.broadcast_missing(log_total, shifted, &[dim])?;
        Ok(smallvec![b.subtract(shifted, log_total)?])
    }

    /// Needs the result only.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&LogSoftmaxGrad, |cx| vec![cx.results[0]]))
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let log_softmax = |dim: i64| super::op(&LogSoftmax, &[DIM.to(dim)]);
        let huge = [1e4, -1e4, 0.0, 1e4];
        vec![
            Sample::new("last", log_softmax(-1), [SampleArg::uniform(float, [2, 5], -3.0, 3.0)]).ulps(16.0),
            Sample::new("first", log_softmax(0), [SampleArg::uniform(float, [4, 3], -3.0, 3.0)]).ulps(16.0),
            Sample::new("huge", log_softmax(-1), [SampleArg::listed(float, [1, 4], &huge)]).ulps(16.0),
        ]
    }
}

described! {
    /// The gradient of `log_softmax` from its result `y` and the cotangent `ct`: `ct - exp(y) * sum(ct)`.
    #[derive(Debug)]
    pub(super) struct LogSoftmaxGrad;
}

impl CompositeDef for LogSoftmaxGrad {
    fn name(&self) -> &str {
        "log_softmax_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["y", "ct"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DIM.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_binary("log_softmax_grad", Takes::Float, args[0], args[1])?;
        attrs.dim(&DIM, args[0])?;
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [y, ct] = args.required()?;
        let dim = attrs.dim(&DIM, b.ty(y))?;
        let total = b.reduce_sum(ct, &[dim])?;
        let total = b.broadcast_missing(total, y, &[dim])?;
        let probabilities = b.exponential(y)?;
        let common = b.multiply(probabilities, total)?;
        Ok(smallvec![b.subtract(ct, common)?])
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let grad = super::op(&LogSoftmaxGrad, &[DIM.to(-1)]);
        let args = [SampleArg::uniform(float, [2, 5], -3.0, -0.1), SampleArg::uniform(float, [2, 5], -1.0, 1.0)];
        vec![Sample::new("last", grad, args).ulps(32.0)]
    }
}
