//! `negate`.

use super::class::{Takes, infer_unary, map_numbers};
use super::special::{INTS, ints, reals};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise negation; integers wrap, unsigned ones included.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Negate;

impl OpDef for Negate {
    fn name(&self) -> &str {
        "negate"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("negate", Takes::Number, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_numbers(cx, args[0], |x| -x, |x| -x))
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::one(b.negate(ct)?))
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
        cx.one(|hlo| hlo.unary(UnaryOp::Negate, args[0]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new("smooth", Negate, [SampleArg::uniform(float, [2, 3], -2.0, 2.0)]),
            Sample::new("special", Negate, [reals(float)]),
        ];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Negate, [ints(dtype)])));
        samples
    }
}

impl Builder<'_> {
    /// Element-wise negation.
    ///
    /// # Errors
    /// When `x` is `pred`.
    pub fn negate(&mut self, x: Value) -> Result<Value> {
        self.emit(Negate, &[x])
    }
}
