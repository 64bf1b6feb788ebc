//! `swiglu` and its gradient.

use super::parts::gradient_by;
use crate::attrs::Attrs;
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, require_same};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_binary, require_elements};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

described! {
    /// `silu(gate) * up`.
    #[derive(Debug)]
    pub(super) struct Swiglu;
}

impl CompositeDef for Swiglu {
    fn name(&self) -> &str {
        "swiglu"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["gate", "up"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_binary("swiglu", Takes::Float, args[0], args[1])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let opened = b.composite("silu", &[], &[args[0]])?[0];
        Ok(smallvec![b.multiply(opened, args[1])?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&SwigluGrad, |cx| cx.args.values().to_vec()))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let args = [SampleArg::uniform(float, [2, 5], -3.0, 3.0), SampleArg::uniform(float, [2, 5], -2.0, 2.0)];
        vec![Sample::new("plain", super::op(&Swiglu, &[]), args).ulps(16.0)]
    }
}

described! {
    /// The gradients of `swiglu` by `gate` and `up` from `gate`, `up` and the cotangent. It repeats the logistic function of the
    /// decomposition of `swiglu`, which is merged with that one; `silu(gate)` is not needed, and so not kept.
    #[derive(Debug)]
    pub(super) struct SwigluGrad;
}

impl CompositeDef for SwigluGrad {
    fn name(&self) -> &str {
        "swiglu_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["gate", "up", "ct"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [gate, up, ct] = args.required()?;
        require_elements("swiglu_grad", Takes::Float, gate)?;
        require_same("swiglu_grad", gate, up)?;
        require_same("swiglu_grad", gate, ct)?;
        Ok(smallvec![gate.clone(), up.clone()])
    }

    /// With `s = logistic(gate)` and `t = ct * s`: `up * (t + t * gate * (1 - s))` and `t * gate`.
    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [gate, up, ct] = args.required()?;
        let share = b.logistic(gate)?;
        let through = b.multiply(ct, share)?;
        let up_ct = b.multiply(through, gate)?;
        let rest = b.subtract_from(1.0, share)?;
        let curved = b.multiply(up_ct, rest)?;
        let slope = b.add(through, curved)?;
        Ok(smallvec![b.multiply(up, slope)?, up_ct])
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let arg = |bound: f64| SampleArg::uniform(float, [2, 5], -bound, bound);
        vec![Sample::new("plain", super::op(&SwigluGrad, &[]), [arg(3.0), arg(2.0), arg(1.0)]).ulps(32.0)]
    }
}
