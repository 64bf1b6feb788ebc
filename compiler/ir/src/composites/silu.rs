//! `silu` and its gradient.

use super::parts::gradient_by;
use crate::attrs::Attrs;
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

described! {
    /// `x * logistic(x)`, also known as swish.
    #[derive(Debug)]
    pub(super) struct Silu;
}

impl CompositeDef for Silu {
    fn name(&self) -> &str {
        "silu"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_unary("silu", Takes::Float, args[0])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let gate = b.logistic(args[0])?;
        Ok(smallvec![b.multiply(args[0], gate)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&SiluGrad, |cx| vec![cx.args[0]]))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let silu = || super::op(&Silu, &[]);
        vec![
            Sample::new("near zero", silu(), [SampleArg::uniform(float, [2, 5], -3.0, 3.0)]).ulps(16.0),
            Sample::new("far", silu(), [SampleArg::listed(float, [4], &[-200.0, -20.0, 20.0, 200.0])]).ulps(16.0),
        ]
    }
}

described! {
    /// The gradient of `silu` from its operand `x` and the cotangent `ct`. `logistic(x)` is merged with that of the decomposition of
    /// `silu`; the result of `silu` is not needed, and so not kept.
    #[derive(Debug)]
    pub(super) struct SiluGrad;
}

impl CompositeDef for SiluGrad {
    fn name(&self) -> &str {
        "silu_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "ct"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_binary("silu_grad", Takes::Float, args[0], args[1])
    }

    /// With `s = logistic(x)`: `ct * (s * (1 + x * (1 - s)))`. The slope is a factor of its own, as in kernels.
    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [x, ct] = args.required()?;
        let gate = b.logistic(x)?;
        let rest = b.subtract_from(1.0, gate)?;
        let bent = b.multiply(x, rest)?;
        let curved = b.add_scalar(bent, 1.0)?;
        let slope = b.multiply(gate, curved)?;
        Ok(smallvec![b.multiply(ct, slope)?])
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let args = [SampleArg::uniform(float, [2, 5], -3.0, 3.0), SampleArg::uniform(float, [2, 5], -1.0, 1.0)];
        vec![Sample::new("near zero", super::op(&SiluGrad, &[]), args).ulps(32.0)]
    }
}
