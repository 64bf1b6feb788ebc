//! Instructions across ranks, which are replicas. Groups are always written out.

use super::{ComputationBuilder, Id};
use crate::attributes::groups_to_proto;
use crate::infer;
use crate::opcode::{Opcode, ReduceKind};
use crate::proto::{CollectiveDeviceListProto, HloInstructionProto, SourceTarget};
use crate::types::ArrayType;
use halite_support::Result;
use halite_tensor::DType;
use serde::{Deserialize, Serialize};

/// The form of collectives where the schema leaves a choice. All forms mean the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CollectiveForm {
    /// Where groups stand.
    pub groups: GroupField,
    /// Whether `all-reduce`, `all-gather` and `reduce-scatter` have channels, numbered from 1. Others never have: with a
    /// channel their ranks would be partitions.
    pub channels: bool,
}

/// The field in which an instruction holds its groups.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupField {
    /// `replica_groups`, number 49.
    #[default]
    ReplicaGroups,
    /// `collective_device_list`, number 87.
    CollectiveDeviceList,
}

impl GroupField {
    fn fill(self, inst: &mut HloInstructionProto, groups: &[Vec<usize>]) {
        let replica_groups = groups_to_proto(groups);
        match self {
            GroupField::ReplicaGroups => inst.replica_groups = replica_groups,
            GroupField::CollectiveDeviceList => {
                let list = CollectiveDeviceListProto { replica_groups, ..CollectiveDeviceListProto::default() };
                inst.collective_device_list = Some(Box::new(list));
            }
        }
    }
}

impl ComputationBuilder<'_> {
    /// `x` combined over the ranks of each group.
    pub fn all_reduce(&mut self, kind: ReduceKind, x: Id, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_reduce(self.array(x)?, groups)?;
        let reducer = self.module.scalar_reducer(kind, ty.dtype)?;
        let (field, channel) = (self.module.collectives.groups, self.module.next_channel());
        self.push(Opcode::AllReduce.name(), &[x], ty, |inst| {
            field.fill(inst, groups);
            inst.channel_id = channel;
            inst.called_computation_ids = vec![reducer.index() as i64];
        })
    }

    /// The operands of each group one after another along `dimension`.
    pub fn all_gather(&mut self, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_gather(self.array(x)?, dimension, groups)?;
        let (field, channel) = (self.module.collectives.groups, self.module.next_channel());
        self.push(Opcode::AllGather.name(), &[x], ty, |inst| {
            inst.dimensions = vec![dimension as i64];
            field.fill(inst, groups);
            inst.channel_id = channel;
        })
    }

    /// `x` combined over the ranks of each group, of which each keeps its part along `dimension`.
    pub fn reduce_scatter(&mut self, kind: ReduceKind, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::reduce_scatter(self.array(x)?, dimension, groups)?;
        let reducer = self.module.scalar_reducer(kind, ty.dtype)?;
        let (field, channel) = (self.module.collectives.groups, self.module.next_channel());
        self.push(Opcode::ReduceScatter.name(), &[x], ty, |inst| {
            inst.dimensions = vec![dimension as i64];
            field.fill(inst, groups);
            inst.channel_id = channel;
            inst.called_computation_ids = vec![reducer.index() as i64];
        })
    }

    /// Part `j` of rank `i` along `dimension` becomes part `i` of rank `j`, within each group.
    pub fn all_to_all(&mut self, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_to_all(self.array(x)?, dimension, groups)?;
        let field = self.module.collectives.groups;
        self.push(Opcode::AllToAll.name(), &[x], ty, |inst| {
            inst.dimensions = vec![dimension as i64];
            field.fill(inst, groups);
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
