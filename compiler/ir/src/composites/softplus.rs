//! `softplus`.

use crate::attrs::Attrs;
use crate::build::{Builder, Values, present};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

described! {
    /// `log(1 + exp(x))`, as `max(x, 0) + log1p(exp(-|x|))`, which neither overflows nor loses what is small.
    #[derive(Debug)]
    pub(super) struct Softplus;
}

impl CompositeDef for Softplus {
    fn name(&self) -> &str {
        "softplus"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_unary("softplus", Takes::Float, args[0])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let zero = b.splat_like(args[0], 0.0)?;
        let positive = b.maximum(args[0], zero)?;
        let size = b.abs(args[0])?;
        let down = b.negate(size)?;
        let power = b.exponential(down)?;
        let rest = b.log_plus_one(power)?;
        Ok(smallvec![b.add(positive, rest)?])
    }

    /// `ct * logistic(x)`: that of the decomposition is undefined at 0.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, _, cx| {
            let slope = b.logistic(cx.args[0])?;
            Ok(Vjp::one(b.multiply(present(cx.ct())?, slope)?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let softplus = || super::op(&Softplus, &[]);
        vec![
            Sample::new("near zero", softplus(), [SampleArg::uniform(float, [2, 5], -3.0, 3.0)]).ulps(16.0),
            Sample::new("far", softplus(), [SampleArg::listed(float, [4], &[-200.0, -20.0, 20.0, 200.0])]).ulps(16.0),
        ]
    }
}
