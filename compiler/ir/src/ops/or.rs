//! `or`.

use super::class::{Takes, infer_binary, zip_int};
use super::special::{INTS, int_pairs, pred_pairs};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{BinaryOp, Id};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise bitwise `or` of two integers of one type; logical on `pred`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Or;

impl OpDef for Or {
    fn name(&self) -> &str {
        "or"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("or", Takes::Logic, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_int(cx, args, |x, y| x | y))
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::None("the operands are integers or predicates"))
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
        cx.one(|hlo| hlo.binary(BinaryOp::Or, args[0], args[1]))
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let mut samples = vec![Sample::new("pred", Or, pred_pairs())];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Or, int_pairs(dtype))));
        samples
    }
}

impl Builder<'_> {
    /// Element-wise `or`.
    ///
    /// # Errors
    /// When the types differ or are floats.
    pub fn or(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Or, &[x, y])
    }
}
