//! `replica_id`.

use super::ranks::alone;
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx, arity};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// The number of the rank that runs the program, `u32[]`. One program serves all ranks.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct ReplicaId;
}

impl OpDef for ReplicaId {
    fn name(&self) -> &str {
        "replica_id"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [] = arity("replica_id", args)?;
        Ok(smallvec![TensorType::scalar(DType::U32)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, _: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        let rank = |rank: usize| vec![HostTensor::from_ints(DType::U32, Shape::scalar(), [rank as i128])];
        Ok((0..args.len()).map(rank).collect())
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(0))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::INTEGER
    }

    /// As for random bits: equal instructions are equal on each rank, but none may be folded to a constant.
    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::RANDOM
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, _: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.replica_id())
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        vec![Sample::new("one", ReplicaId, []), Sample::new("four", ReplicaId, []).ranks(4)]
    }
}

impl Builder<'_> {
    /// The number of the rank that runs the program, `u32[]`.
    ///
    /// # Errors
    /// Never.
    pub fn replica_id(&mut self) -> Result<Value> {
        self.emit(ReplicaId, &[])
    }
}
