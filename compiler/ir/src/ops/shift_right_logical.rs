//! `shift_right_logical`.

use super::class::{Takes, bits, infer_binary, shift_amount, zip_int};
use super::special::{INTS, int_shifts};
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

/// Element-wise shift toward lower bits that brings in zeros. `y` is read as unsigned; shifting by the width or more
/// gives zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShiftRightLogical;

impl OpDef for ShiftRightLogical {
    fn name(&self) -> &str {
        "shift_right_logical"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        infer_binary("shift_right_logical", Takes::Int, args)
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let dtype = args[0].dtype();
        Ok(zip_int(cx, args, |x, y| (bits(dtype, x) >> shift_amount(dtype, y)) as i128))
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::None("the operands are integers"))
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
        cx.one(|hlo| hlo.binary(BinaryOp::ShiftRightLogical, args[0], args[1]))
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        INTS.map(|dtype| Sample::new(dtype.name(), ShiftRightLogical, int_shifts(dtype))).to_vec()
    }
}

impl Builder<'_> {
    /// Element-wise shift toward lower bits, bringing in zeros.
    ///
    /// # Errors
    /// When the types differ or are not integers.
    pub fn shift_right_logical(&mut self, x: Value, y: Value) -> Result<Value> {
        self.emit(ShiftRightLogical, &[x, y])
    }
}
