//! `add_any`.

use crate::attrs::Attrs;
use crate::build::{Builder, Values, present};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_binary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

described! {
    /// The sum of two cotangents of one value (JAX's `add_any`): an addition that mixed precision makes in the type of
    /// gradients, however narrow the value itself is.
    #[derive(Debug)]
    pub struct AddAny;
}

impl CompositeDef for AddAny {
    fn name(&self) -> &str {
        "add_any"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "y"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_binary("add_any", Takes::Float, args[0], args[1])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        Ok(smallvec![b.add(args[0], args[1])?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, cx| {
            let ct = present(cx.ct())?;
            Ok(Vjp::of([Some(ct), Some(ct)]))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::GRADIENT_SUM
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let arg = || SampleArg::uniform(float, [2, 3], -2.0, 2.0);
        vec![Sample::new("sum", super::op(&AddAny, &[]), [arg(), arg()])]
    }
}
