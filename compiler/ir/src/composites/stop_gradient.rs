//! `stop_gradient`.

use crate::attrs::Attrs;
use crate::build::{Builder, Values};
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
    /// Its operand, through which no gradient goes.
    #[derive(Debug)]
    pub(super) struct StopGradient;
}

impl CompositeDef for StopGradient {
    fn name(&self) -> &str {
        "stop_gradient"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let x = args[0];
        Ok(smallvec![x.clone()])
    }

    fn expand(&self, _: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        Ok(smallvec![args[0]])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, _| Ok(Vjp::of([None]))))
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = || super::op(&StopGradient, &[]);
        vec![
            Sample::new("reals", op(), [SampleArg::uniform(float, [2, 3], -1.0, 1.0)]),
            Sample::new("integers", op(), [SampleArg::whole(DType::S32, [4], -9, 9)]),
        ]
    }
}
