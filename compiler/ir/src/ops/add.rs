//! `add`.

use super::class::{Takes, infer_binary, zip_numbers};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{BinaryOp, Id};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise sum of two tensors of one type; integers wrap.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Add;

impl OpDef for Add {
    fn name(&self) -> &str {
        "add"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("add", Takes::Number, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_numbers(cx, args, |x, y| x + y, |x, y| x + y))
    }

    fn vjp(&self, _: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::of([Some(ct), Some(ct)]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::ELEMENTWISE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.binary(BinaryOp::Add, args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let floats = [SampleArg::uniform(float, [2, 3], -2.0, 2.0), SampleArg::uniform(float, [2, 3], -2.0, 2.0)];
        let extreme = [i64::from(i32::MIN) as f64, i64::from(i32::MAX) as f64];
        let ints = [SampleArg::listed(DType::S32, [2], &extreme), SampleArg::whole(DType::S32, [2], 1, 9)];
        vec![Sample::new("float", Add, floats), Sample::new("wrapping", Add, ints)]
    }
}

impl Builder<'_> {
    /// Element-wise sum.
    ///
    /// # Errors
    /// When the types differ.
    pub fn add(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Add, &[x, y])
    }
}
