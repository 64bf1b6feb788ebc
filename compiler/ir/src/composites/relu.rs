//! `relu` and its gradient.

use super::parts::gradient_by;
use crate::attrs::Attrs;
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg};
use crate::operands::{Args, Operands};
use crate::ops::Direction;
use crate::ops::class::{Takes, infer_binary, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

described! {
    /// `max(x, 0)`.
    #[derive(Debug)]
    pub(super) struct Relu;
}

impl CompositeDef for Relu {
    fn name(&self) -> &str {
        "relu"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_unary("relu", Takes::Float, args[0])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let zero = b.splat_like(args[0], 0.0)?;
        Ok(smallvec![b.maximum(args[0], zero)?])
    }

    /// Needs the result only.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&ReluGrad, |cx| vec![cx.results[0]]))
    }

    fn policy(&self) -> Policy {
        Policy::EXACT
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let relu = || super::op(&Relu, &[]);
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -1.0];
        vec![
            Sample::new("positive", relu(), [SampleArg::uniform(float, [2, 3], 0.1, 2.0)]),
            Sample::new("negative", relu(), [SampleArg::uniform(float, [2, 3], -2.0, -0.1)]),
            Sample::new("special", relu(), [SampleArg::listed(float, [6], &special)]),
        ]
    }
}

described! {
    /// The gradient of `relu` from its result `y` and the cotangent `ct`: `ct` where `y > 0`, else 0.
    #[derive(Debug)]
    pub(super) struct ReluGrad;
}

impl CompositeDef for ReluGrad {
    fn name(&self) -> &str {
        "relu_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["y", "ct"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_binary("relu_grad", Takes::Float, args[0], args[1])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [y, ct] = args.required()?;
        let zero = b.splat_like(y, 0.0)?;
        let active = b.compare(y, zero, Direction::Gt)?;
        Ok(smallvec![b.select(active, ct, zero)?])
    }

    fn policy(&self) -> Policy {
        Policy::EXACT
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let args = [SampleArg::listed(float, [4], &[0.0, 2.0, 0.5, 0.0]), SampleArg::uniform(float, [4], -1.0, 1.0)];
        vec![Sample::new("half", super::op(&ReluGrad, &[]), args)]
    }
}
