//! A composite of somebody else's, for tests of what can be added to a session.

use halite_ir::{
    Args, AttrKey, AttrSpec, Attrs, Builder, CompositeDef, InferCx, Operands, Policy, TensorType, Types, Value, Values,
};
use halite_support::Result;

/// The factor of the operand; 2 unless it is stated.
pub static BY: AttrKey<f64> = AttrKey::optional("by", 2.0, "the factor");

halite_ir::described! {
    /// `scaled`: its operand times the attribute `by`, which is 2 unless it is stated.
    #[derive(Debug)]
    pub struct Scaled;
}

impl CompositeDef for Scaled {
    fn name(&self) -> &str {
        "scaled"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![BY.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        Ok(std::iter::once(args[0].clone()).collect())
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let factor = b.splat_like(args[0], attrs.get(&BY)?)?;
        Ok(std::iter::once(b.multiply(args[0], factor)?).collect())
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }
}
