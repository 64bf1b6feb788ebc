//! `count_leading_zeros`.

use super::class::{Takes, bits, infer_unary, map_int};
use super::special::{INTS, ints};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::dims::FactorMap;
use crate::interpret::EvalCx;
use crate::lower::LowerCx;
use crate::op::{Cost, Ids, InferCx, OpDef, Policy, Sample, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Element-wise number of zeros before the highest bit set in an integer; its width for zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CountLeadingZeros;

impl OpDef for CountLeadingZeros {
    fn name(&self) -> &str {
        "count_leading_zeros"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_unary("count_leading_zeros", Takes::Int, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let dtype = args[0].dtype();
        Ok(map_int(cx, args[0], |x| i128::from(bits(dtype, x).leading_zeros() + dtype.bits() - u128::BITS)))
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::None("the operand is an integer"))
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
        cx.one(|hlo| hlo.unary(UnaryOp::CountLeadingZeros, args[0]))
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        INTS.map(|dtype| Sample::new(dtype.name(), CountLeadingZeros, [ints(dtype)])).to_vec()
    }
}

impl Builder<'_> {
    /// Element-wise number of zeros before the highest bit set.
    ///
    /// # Errors
    /// When `x` is not an integer.
    pub fn count_leading_zeros(&mut self, x: Value) -> Result<Value> {
        self.emit(CountLeadingZeros, &[x])
    }
}
