//! `all_gather`.

use super::movement::require_countable;
use super::ranks::{alone, each_dims, each_vjp, exchange, grouped, groups, joined, lower_each};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, require_dim};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use crate::wire::Wire;
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Groups, HostTensor};

described! {
    /// The operands of all ranks of a group one after another along dimension `dim`, in group order, on each of them. Several operands, of
    /// one element type, are gathered each by itself.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct AllGather {
        /// The dimension along which the operands follow each other.
        pub dim: usize,
        /// Which ranks act together.
        pub groups: Groups,
    }
}

impl OpDef for AllGather {
    fn name(&self) -> &str {
        "all_gather"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dim", &mut self.dim);
        visitor.attr("groups", &mut self.groups);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let parts = grouped("all_gather", &self.groups, args)?;
        let gathered = |x: &&TensorType| {
            require_dim("all_gather", x, self.dim)?;
            let mut shape = x.shape().clone();
            shape[self.dim] = shape[self.dim].saturating_mul(parts);
            require_countable("all_gather", x.dtype(), shape)
        };
        args.iter().map(gathered).collect()
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, _: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        exchange("all_gather", &self.groups, args, |operands, _| {
            joined(&operands.iter().map(|&operand| operand.clone()).collect::<Vec<_>>(), self.dim)
        })
    }

    /// Each rank's part of the sum of the cotangents.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        each_vjp(cx, |_, ct| b.reduce_scatter(ct, self.dim, self.groups.clone()))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::COLLECTIVE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn wire<'a>(&'a self, _: &[&TensorType], results: &[&TensorType]) -> Option<Wire<'a>> {
        Some(Wire::around(&self.groups, results, 1))
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        each_dims(args, results, |dim| dim == self.dim)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let groups = cx.lists(&self.groups);
        lower_each(cx, args, self.dim == 0, |hlo, args| hlo.all_gather(args, self.dim, &groups))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dim, groups| AllGather { dim, groups };
        let x = || [SampleArg::uniform(float, [2, 3], -1.0, 1.0)];
        let several = [SampleArg::uniform(float, [2, 3], -1.0, 1.0), SampleArg::uniform(float, [1], -1.0, 1.0)];
        let columns = [SampleArg::uniform(float, [3, 4], -1.0, 1.0), SampleArg::uniform(float, [2, 6], -1.0, 1.0)];
        let ints = [SampleArg::whole(DType::S32, [2], -9, 9)];
        vec![
            Sample::new("rows", op(0, groups([&[0, 1, 2, 3]])), x()).ranks(4),
            Sample::new("groups", op(1, groups([&[0, 2], &[3, 1]])), x()).ranks(4),
            Sample::new("several", op(0, groups([&[0, 1]])), several).ranks(2),
            Sample::new("several columns", op(1, groups([&[0, 1]])), columns).ranks(2),
            Sample::new("integers", op(0, groups([&[0, 1]])), ints).ranks(2),
        ]
    }
}

impl Builder<'_> {
    /// The operands of each group one after another along `dim`.
    ///
    /// # Errors
    /// When `dim` is out of range or the groups do not hold each rank once.
    pub fn all_gather(&mut self, x: Value, dim: usize, groups: Groups) -> Result<Value> {
        self.emit(AllGather { dim, groups }, &[x])
    }
}
