//! `reduce_scatter`.

use super::class::{Takes, require_elements};
use super::ranks::{
    alone, combined, each_dims, each_vjp, exchange, grouped, groups, lower_each, part_of, require_split,
};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use crate::wire::Wire;
use halite_hlo::{Id, ReduceKind};
use halite_support::Result;
use halite_tensor::{DType, Groups, HostTensor};

described! {
    /// The element-wise sum of the operands of all ranks of a group, of which each rank keeps its equal part along dimension
    /// `dim`, in group order. Several operands, of one element type, are summed and split each by itself.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ReduceScatter {
        /// The dimension that is split among the ranks.
        pub dim: usize,
        /// Which ranks act together.
        pub groups: Groups,
    }
}

impl OpDef for ReduceScatter {
    fn name(&self) -> &str {
        "reduce_scatter"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dim", &mut self.dim);
        visitor.attr("groups", &mut self.groups);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let parts = grouped("reduce_scatter", &self.groups, args)?;
        let scattered = |x: &&TensorType| {
            require_elements("reduce_scatter", Takes::Number, x)?;
            require_split("reduce_scatter", x, self.dim, parts)?;
            let mut shape = x.shape().clone();
            shape[self.dim] /= parts;
            Ok(x.with_shape(shape))
        };
        args.iter().map(scattered).collect()
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, _: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        exchange("reduce_scatter", &self.groups, args, |operands, position| {
            part_of(&combined(Reduction::Sum, operands), self.dim, position, operands.len())
        })
    }

    /// Every rank's operand reaches every part, so it gets the cotangents of all parts.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        each_vjp(cx, |_, ct| b.all_gather(ct, self.dim, self.groups.clone()))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::REDUCE
    }

    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::COLLECTIVE
    }

    /// One addition for each element of the operand.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::over_operand(args, results)
    }

    fn wire<'a>(&'a self, args: &[&TensorType], _: &[&TensorType]) -> Option<Wire<'a>> {
        Some(Wire::around(&self.groups, args, 1))
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        each_dims(args, results, |dim| dim == self.dim)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let groups = cx.lists(&self.groups);
        lower_each(cx, args, false, |hlo, args| hlo.reduce_scatter(ReduceKind::Add, args, self.dim, &groups))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dim, groups| ReduceScatter { dim, groups };
        let x = || [SampleArg::uniform(float, [4, 2], -1.0, 1.0)];
        let several = [SampleArg::uniform(float, [4, 2], -1.0, 1.0), SampleArg::uniform(float, [2], -1.0, 1.0)];
        let columns = [SampleArg::uniform(float, [3, 4], -1.0, 1.0), SampleArg::uniform(float, [2, 6], -1.0, 1.0)];
        let ints = [SampleArg::whole(DType::S32, [4], -9, 9)];
        vec![
            Sample::new("rows", op(0, groups([&[0, 1, 2, 3]])), x()).ulps(8.0).ranks(4),
            Sample::new("groups", op(1, groups([&[0, 2], &[3, 1]])), x()).ulps(8.0).ranks(4),
            Sample::new("several", op(0, groups([&[0, 1]])), several).ulps(8.0).ranks(2),
            Sample::new("several columns", op(1, groups([&[0, 1]])), columns).ulps(8.0).ranks(2),
            Sample::new("integers", op(0, groups([&[0, 1]])), ints).ranks(2),
        ]
    }
}

impl Builder<'_> {
    /// The sum of `x` over each group, of which each rank keeps its part along `dim`.
    ///
    /// # Errors
    /// When `dim` cannot be split evenly or the groups do not hold each rank once.
    pub fn reduce_scatter(&mut self, x: Value, dim: usize, groups: Groups) -> Result<Value> {
        self.emit(ReduceScatter { dim, groups }, &[x])
    }
}
