//! `not`.

use super::class::{Takes, infer_unary, map_int};
use super::special::{INTS, ints};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise bitwise complement of an integer; logical on `pred`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Not;

impl OpDef for Not {
    fn name(&self) -> &str {
        "not"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("not", Takes::Logic, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(map_int(cx, args[0], |x| if args[0].dtype() == DType::Pred { 1 - x } else { !x }))
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::None("the operand is an integer or a predicate"))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::INTEGER
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.unary(UnaryOp::Not, args[0]))
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let pred = SampleArg::listed(DType::Pred, [2], &[0.0, 1.0]);
        let mut samples = vec![Sample::new("pred", Not, [pred])];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Not, [ints(dtype)])));
        samples
    }
}

impl Builder<'_> {
    /// Element-wise complement.
    ///
    /// # Errors
    /// When `x` is a float.
    pub fn not(&mut self, x: Value) -> Result<Value> {
        self.emit(Not, &[x])
    }
}
