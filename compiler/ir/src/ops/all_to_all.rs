//! `all_to_all`.

use super::movement::{require_countable, same_rank_dims};
use super::ranks::{alone, exchange, grouped, groups, joined, move_dim, part_of, require_split};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, require_dim};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use crate::wire::Wire;
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Groups, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// Each rank of a group splits its operand into equal parts along `split_dim` and sends part `j` to the `j`-th rank,
    /// which puts what it receives one after another along `concat_dim`, in group order.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct AllToAll {
        /// The dimension that is split among the ranks.
        pub split_dim: usize,
        /// The dimension along which received parts follow each other.
        pub concat_dim: usize,
        /// Which ranks act together.
        pub groups: Groups,
    }
}

impl AllToAll {
    fn result_shape(&self, x: &Shape, parts: usize) -> Shape {
        let mut shape = x.clone();
        shape[self.split_dim] /= parts;
        shape[self.concat_dim] = shape[self.concat_dim].saturating_mul(parts);
        shape
    }
}

impl OpDef for AllToAll {
    fn name(&self) -> &str {
        "all_to_all"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("split_dim", &mut self.split_dim);
        visitor.attr("concat_dim", &mut self.concat_dim);
        visitor.attr("groups", &mut self.groups);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("all_to_all", args)?;
        let parts = grouped("all_to_all", &self.groups, args)?;
        require_split("all_to_all", x, self.split_dim, parts)?;
        require_dim("all_to_all", x, self.concat_dim)?;
        let shape = self.result_shape(x.shape(), parts);
        Ok(smallvec![require_countable("all_to_all", x.dtype(), shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, _: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        exchange("all_to_all", &self.groups, args, |operands, position| {
            let part = |operand: &&HostTensor| part_of(operand, self.split_dim, position, operands.len());
            joined(&operands.iter().map(part).collect::<Vec<_>>(), self.concat_dim)
        })
    }

    /// Sends every part back.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        Ok(Vjp::one(b.all_to_all(ct, self.concat_dim, self.split_dim, self.groups.clone())?))
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

    fn wire<'a>(&'a self, args: &[&TensorType], _: &[&TensorType]) -> Option<Wire<'a>> {
        Some(Wire::around(&self.groups, args, 1))
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        same_rank_dims(args, results, |dim| dim == self.split_dim || dim == self.concat_dim)
    }

    /// HLO splits and concatenates along one dimension. For two, the parts become a dimension of their own, which moves
    /// before `concat_dim` and merges with it.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let (split, concat) = (self.split_dim, self.concat_dim);
        if split == concat {
            return cx.one(|hlo| hlo.all_to_all(args[0], split, &self.groups.lists()));
        }
        let (hlo, parts) = (&mut cx.hlo, self.groups.size().unwrap_or(1));
        let shape = hlo.array(args[0])?.shape.clone();
        let mut apart = shape.clone().into_dims();
        apart[split] /= parts;
        apart.insert(split, parts);
        let x = hlo.reshape(args[0], &apart.into())?;
        let x = hlo.all_to_all(x, split, &self.groups.lists())?;
        let x = hlo.transpose(x, &move_dim(shape.rank() + 1, split, concat))?;
        cx.one(|hlo| hlo.reshape(x, &self.result_shape(&shape, parts)))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |split_dim, concat_dim, groups| AllToAll { split_dim, concat_dim, groups };
        let x = || [SampleArg::uniform(float, [4, 3, 2], -1.0, 1.0)];
        let ints = [SampleArg::whole(DType::S32, [4], -9, 9)];
        vec![
            Sample::new("one dimension", op(0, 0, groups([&[0, 1, 2, 3]])), x()).ranks(4),
            Sample::new("forward", op(0, 1, groups([&[0, 1, 2, 3]])), x()).ranks(4),
            Sample::new("backward", op(2, 0, groups([&[0, 2], &[3, 1]])), x()).ranks(4),
            Sample::new("integers", op(0, 0, groups([&[1, 0]])), ints).ranks(2),
        ]
    }
}

impl Builder<'_> {
    /// Part `j` of `x` along `split_dim` goes to the `j`-th rank of the group, which puts what it receives one after
    /// another along `concat_dim`.
    ///
    /// # Errors
    /// When `split_dim` cannot be split evenly or the groups do not hold each rank once.
    pub fn all_to_all(&mut self, x: Value, split_dim: usize, concat_dim: usize, groups: Groups) -> Result<Value> {
        self.emit(AllToAll { split_dim, concat_dim, groups }, &[x])
    }
}
