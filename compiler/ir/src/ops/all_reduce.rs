//! `all_reduce`.

use super::compare::Direction;
use super::ranks::{alone, combined, each_dims, each_vjp, exchange, grouped, groups, lower_each};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::ops::class::require_elements;
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use crate::wire::Wire;
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Groups, HostTensor};

described! {
    /// The element-wise combination of the operands of all ranks of a group, on each of them; rounded once. Several operands, of one element type, are
    /// combined each by itself.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct AllReduce {
        /// How elements combine.
        pub kind: Reduction,
        /// Which ranks act together.
        pub groups: Groups,
    }
}

impl OpDef for AllReduce {
    fn name(&self) -> &str {
        "all_reduce"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("kind", &mut self.kind);
        visitor.attr("groups", &mut self.groups);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        grouped("all_reduce", &self.groups, args)?;
        args.iter().try_for_each(|x| require_elements("all_reduce", self.kind.takes(), x))?;
        Ok(args.iter().map(|&x| x.clone()).collect())
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, _: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        exchange("all_reduce", &self.groups, args, |operands, _| combined(self.kind, operands))
    }

    /// The objective is the sum over ranks, so the cotangents of a group add up. A sum hands that on; an extreme hands it
    /// to the ranks that hold the extreme, in equal shares, and where the extreme is NaN the gradient is too.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        match self.kind {
            Reduction::And | Reduction::Or | Reduction::Xor => return Ok(Vjp::none("bits have no derivative")),
            Reduction::Product => return Ok(Vjp::none("products over ranks have no rule")),
            Reduction::Sum | Reduction::Max | Reduction::Min => {}
        }
        each_vjp(cx, |at, ct| {
            let (x, y) = (cx.args[at], cx.results[at]);
            let total = b.all_reduce(Reduction::Sum, ct, self.groups.clone())?;
            if self.kind == Reduction::Sum {
                return Ok(total);
            }
            let holds = b.compare(x, y, Direction::Eq)?;
            let holds = b.convert(holds, b.dtype(x))?;
            let ties = b.all_reduce(Reduction::Sum, holds, self.groups.clone())?;
            let share = b.divide(total, ties)?;
            b.multiply(share, holds)
        })
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        match self.kind {
            Reduction::Sum | Reduction::Product => Policy::REDUCE,
            Reduction::Max | Reduction::Min => Policy::EXACT,
            Reduction::And | Reduction::Or | Reduction::Xor => Policy::INTEGER,
        }
    }

    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::COLLECTIVE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn wire<'a>(&'a self, args: &[&TensorType], _: &[&TensorType]) -> Option<Wire<'a>> {
        Some(Wire::around(&self.groups, args, 2))
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        each_dims(args, results, |_| false)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let groups = cx.lists(&self.groups);
        lower_each(cx, args, true, |hlo, args| hlo.all_reduce(self.kind.hlo(), args, &groups))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |kind, groups| AllReduce { kind, groups };
        let x = || [SampleArg::uniform(float, [2, 3], -1.0, 1.0)];
        let all = || groups([&[0, 1, 2, 3]]);
        let ints = [SampleArg::whole(DType::S32, [4], -9, 9)];
        let several = [SampleArg::uniform(float, [2, 3], -1.0, 1.0), SampleArg::uniform(float, [2], -1.0, 1.0)];
        let bits = || [SampleArg::whole(DType::Pred, [8], 0, 1)];
        vec![
            Sample::new("sum", op(Reduction::Sum, all()), x()).ulps(8.0).ranks(4),
            Sample::new("groups", op(Reduction::Sum, groups([&[0, 2], &[3, 1]])), x()).ulps(8.0).ranks(4),
            Sample::new("max", op(Reduction::Max, all()), x()).ranks(4),
            Sample::new("min", op(Reduction::Min, groups([&[0, 1]])), x()).ranks(2),
            Sample::new("integers", op(Reduction::Sum, groups([&[1, 0]])), ints).ranks(2),
            Sample::new("and", op(Reduction::And, all()), bits()).ranks(4),
            Sample::new("several", op(Reduction::Sum, all()), several).ulps(8.0).ranks(4),
            Sample::new("product", op(Reduction::Product, groups([&[0, 1]])), x()).ulps(8.0).ranks(2),
            Sample::new("or", op(Reduction::Or, all()), bits()).ranks(4),
        ]
    }
}

impl Builder<'_> {
    /// `x` combined element by element over the ranks of each group.
    ///
    /// # Errors
    /// When the groups do not hold each rank once, or `x` is of the wrong element type.
    pub fn all_reduce(&mut self, kind: Reduction, x: Value, groups: Groups) -> Result<Value> {
        self.emit(AllReduce { kind, groups }, &[x])
    }
}
