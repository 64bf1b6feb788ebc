//! `dropout`.

use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::CompositeDef;
use crate::described;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, attr_error};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

/// The probability with which an element becomes zero, from 0 and below 1.
pub static RATE: AttrKey<f64> = AttrKey::optional("rate", 0.0, "the probability with which an element becomes zero");

/// The attribute, checked.
pub(super) fn rate(op: &str, attrs: &Attrs) -> Result<f64> {
    let rate = attrs.get(&RATE)?;
    if (0.0..1.0).contains(&rate) {
        return Ok(rate);
    }
    Err(attr_error(format!("`rate` of `{op}` is {rate}, expected a number from 0 and below 1")))
}

described! {
    /// `x`, until a pass gives it random bits: an element of which is zero with probability `rate` then, and divided by `1 - rate`
    /// otherwise. As it stands it means what it does outside of training, nothing.
    ///
    /// Each has bits of its own, so that two of one operand are two.
    #[derive(Debug)]
    pub(super) struct Dropout;
}

impl CompositeDef for Dropout {
    fn name(&self) -> &str {
        "dropout"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![RATE.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_unary("dropout", Takes::Float, args[0])?;
        rate("dropout", attrs)?;
        Ok(types)
    }

    fn expand(&self, _: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        Ok(smallvec![args[0]])
    }

    fn effect(&self) -> Effect {
        Effect { mergeable: false, ..Effect::RANDOM }
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = super::op(self, &[RATE.to(0.25)]);
        vec![Sample::new("matrix", op, [SampleArg::uniform(float, [3, 4], -2.0, 2.0)])]
    }
}
