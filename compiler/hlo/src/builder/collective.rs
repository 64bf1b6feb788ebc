//! Instructions across ranks. Groups are always written out, and no channel is set: ranks are replicas.

use super::{ComputationBuilder, Id};
use crate::attributes::groups_to_proto;
use crate::infer;
use crate::opcode::{Opcode, ReduceKind};
use crate::proto::SourceTarget;
use crate::types::ArrayType;
use halite_support::Result;
use halite_tensor::DType;

impl ComputationBuilder<'_> {
    /// `x` combined over the ranks of each group.
    pub fn all_reduce(&mut self, kind: ReduceKind, x: Id, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_reduce(self.array(x)?, groups)?;
        let reducer = self.module.scalar_reducer(kind, ty.dtype)?;
        self.push(Opcode::AllReduce.name(), &[x], ty, |inst| {
            inst.replica_groups = groups_to_proto(groups);
            inst.called_computation_ids = vec![reducer.index() as i64];
        })
    }

    /// The operands of each group one after another along `dimension`.
    pub fn all_gather(&mut self, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_gather(self.array(x)?, dimension, groups)?;
        self.push(Opcode::AllGather.name(), &[x], ty, |inst| {
            inst.dimensions = vec![dimension as i64];
            inst.replica_groups = groups_to_proto(groups);
        })
    }

    /// `x` combined over the ranks of each group, of which each keeps its part along `dimension`.
    pub fn reduce_scatter(&mut self, kind: ReduceKind, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::reduce_scatter(self.array(x)?, dimension, groups)?;
        let reducer = self.module.scalar_reducer(kind, ty.dtype)?;
        self.push(Opcode::ReduceScatter.name(), &[x], ty, |inst| {
            inst.dimensions = vec![dimension as i64];
            inst.replica_groups = groups_to_proto(groups);
            inst.called_computation_ids = vec![reducer.index() as i64];
        })
    }

    /// Part `j` of rank `i` along `dimension` becomes part `i` of rank `j`, within each group.
    pub fn all_to_all(&mut self, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_to_all(self.array(x)?, dimension, groups)?;
        self.push(Opcode::AllToAll.name(), &[x], ty, |inst| {
            inst.dimensions = vec![dimension as i64];
            inst.replica_groups = groups_to_proto(groups);
        })
    }

    /// `x` of each pair's first rank on its second; zeros on ranks that are no second.
    pub fn collective_permute(&mut self, x: Id, pairs: &[(usize, usize)]) -> Result<Id> {
        let ty = infer::collective_permute(self.array(x)?, pairs)?;
        self.push(Opcode::CollectivePermute.name(), &[x], ty, |inst| {
            let edge =
                |(source, target): &(usize, usize)| SourceTarget { source: *source as i64, target: *target as i64 };
            inst.source_target_pairs = pairs.iter().map(edge).collect();
        })
    }

    /// The number of this rank, `u32[]`.
    pub fn replica_id(&mut self) -> Result<Id> {
        self.push(Opcode::ReplicaId.name(), &[], ArrayType::scalar(DType::U32), |_| {})
    }
}
