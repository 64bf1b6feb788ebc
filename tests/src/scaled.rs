//! A composite of somebody else's, for tests of what can be added to a session.

use halite_ir::{
    Attr, AttrSpec, Attrs, Builder, CompositeDef, InferCx, Policy, Real, TensorType, Types, Value, Values,
};
use halite_support::Result;

/// `scaled`: its operand times the attribute `by`, which is 2 unless it is stated.
#[derive(Debug)]
pub struct Scaled([AttrSpec; 1]);

impl Default for Scaled {
    fn default() -> Self {
        Self([AttrSpec::optional("by", Attr::Real(Real(2.0)), "the factor")])
    }
}

impl CompositeDef for Scaled {
    fn name(&self) -> &str {
        "scaled"
    }

    fn schema(&self) -> &[AttrSpec] {
        &self.0
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: &[&TensorType]) -> Result<Types> {
        Ok(args.iter().take(1).map(|&ty| ty.clone()).collect())
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: &[Value]) -> Result<Values> {
        let factor = b.splat_like(args[0], attrs.real("by"))?;
        Ok(std::iter::once(b.multiply(args[0], factor)?).collect())
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }
}
