//! `is_finite`.

use super::class::{Takes, map_f64};
use super::special::reals;
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx, arity};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

described! {
    /// Element-wise: whether a float is neither infinite nor NaN, as `pred`.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct IsFinite;
}

impl OpDef for IsFinite {
    fn name(&self) -> &str {
        "is_finite"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("is_finite", args)?;
        Takes::Float.check("is_finite", x)?;
        Ok(smallvec![x.with_dtype(DType::Pred)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_f64(cx, args[0], |x| f64::from(u8::from(x.is_finite()))))
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the result is a predicate"))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::EXACT
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.unary(UnaryOp::IsFinite, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        vec![Sample::new("special", IsFinite, [reals(float)])]
    }
}

impl Builder<'_> {
    /// Element-wise: neither infinite nor NaN.
    ///
    /// # Errors
    /// When `x` is not a float.
    pub fn is_finite(&mut self, x: Value) -> Result<Value> {
        self.emit(IsFinite, &[x])
    }
}
