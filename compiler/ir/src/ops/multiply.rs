//! `multiply`.

use super::class::{Takes, infer_binary, zip_numbers};
use super::special::{INTS, int_pairs, real_pairs, subnormal_products};
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

/// Element-wise product of two tensors of one type; integers wrap.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Multiply;

impl OpDef for Multiply {
    fn name(&self) -> &str {
        "multiply"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("multiply", Takes::Number, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(zip_numbers(cx, args, |x, y| x * y, |x, y| x.wrapping_mul(y)))
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (x, y) = (cx.args[0], cx.args[1]);
        let dx = cx.want(0, || b.multiply(ct, y))?;
        let dy = cx.want(1, || b.multiply(ct, x))?;
        Ok(Vjp::of([dx, dy]))
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
        cx.one(|hlo| hlo.binary(BinaryOp::Multiply, args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let mut samples = vec![
            Sample::new(
                "smooth",
                Multiply,
                [SampleArg::uniform(float, [2, 3], -2.0, 2.0), SampleArg::uniform(float, [2, 3], -2.0, 2.0)],
            ),
            Sample::new("special", Multiply, real_pairs(float)),
            Sample::new("subnormal", Multiply, subnormal_products(float)),
        ];
        samples.extend(INTS.map(|dtype| Sample::new(dtype.name(), Multiply, int_pairs(dtype))));
        samples
    }
}

impl Builder<'_> {
    /// Element-wise product.
    ///
    /// # Errors
    /// When the types differ or are not numbers.
    pub fn multiply(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(Multiply, &[x, y])
    }
}
