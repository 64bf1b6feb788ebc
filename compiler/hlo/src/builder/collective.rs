//! Instructions across ranks, which are replicas. Groups are always written out.

use super::{ComputationBuilder, Id, Streams};
use crate::attributes::groups_to_proto;
use crate::infer;
use crate::opcode::{Opcode, ReduceKind};
use crate::proto::{CollectiveDeviceListProto, HloInstructionProto, ReplicaGroup, SharedList, SourceTarget};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

/// The form of collectives where the schema leaves a choice. All forms mean the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CollectiveForm {
    /// The field that holds groups.
    pub groups: GroupField,
    /// Whether `all-reduce`, `all-gather` and `reduce-scatter` have channels, numbered from 1. Others never have: with a
    /// channel their ranks would be partitions.
    pub channels: bool,
    /// The streams of `all-reduce`, `all-gather` and `reduce-scatter` where a token puts those of a computation in the order in which they
    /// are written: a scalar that each takes as its last operand, and hands on as its last result. Left out, none has a token. XLA takes
    /// no token in an `all-gather` or a `reduce-scatter`.
    pub ordered: Option<Streams>,
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
    fn fill(self, inst: &mut HloInstructionProto, groups: SharedList<ReplicaGroup>) {
        match self {
            GroupField::ReplicaGroups => inst.replica_groups = groups,
            GroupField::CollectiveDeviceList => {
                let replica_groups = groups.to_vec();
                let list = CollectiveDeviceListProto { replica_groups, ..CollectiveDeviceListProto::default() };
                inst.collective_device_list = Some(Box::new(list));
            }
        }
    }
}

impl ComputationBuilder<'_> {
    /// Groups as messages, which all collectives with these groups have together.
    fn groups(&mut self, groups: &[Vec<usize>]) -> SharedList<ReplicaGroup> {
        let known = self.module.groups.iter().find(|(listed, _)| listed == groups).map(|(_, known)| known.clone());
        known.unwrap_or_else(|| {
            let messages: SharedList<ReplicaGroup> = groups_to_proto(groups).into();
            self.module.groups.push((groups.to_vec(), messages.clone()));
            messages
        })
    }

    /// Each of `xs`, which are of one element type, combined over the ranks of each group.
    pub fn all_reduce(&mut self, kind: ReduceKind, xs: &[Id], groups: &[Vec<usize>]) -> Result<Vec<Id>> {
        self.combined((Opcode::AllReduce, kind), xs, groups, |x| infer::all_reduce(x, groups), |_| {})
    }

    /// For each of `xs`, the operands of each group, concatenated along `dimension`.
    pub fn all_gather(&mut self, xs: &[Id], dimension: usize, groups: &[Vec<usize>]) -> Result<Vec<Id>> {
        let result = |x: &ArrayType| infer::all_gather(x, dimension, groups);
        self.of_each(Opcode::AllGather, xs, groups, result, |inst| inst.dimensions = smallvec![dimension as i64])
    }

    /// Each of `xs`, which are of one element type, combined over the ranks of each group, of which each keeps its part along `dimension`.
    pub fn reduce_scatter(
        &mut self,
        kind: ReduceKind,
        xs: &[Id],
        dimension: usize,
        groups: &[Vec<usize>],
    ) -> Result<Vec<Id>> {
        let result = |x: &ArrayType| infer::reduce_scatter(x, dimension, groups);
        self.combined((Opcode::ReduceScatter, kind), xs, groups, result, |inst| {
            inst.dimensions = smallvec![dimension as i64];
        })
    }

    /// One instruction that combines elements of each operand.
    fn combined(
        &mut self,
        (opcode, kind): (Opcode, ReduceKind),
        xs: &[Id],
        groups: &[Vec<usize>],
        result: impl Fn(&ArrayType) -> Result<ArrayType>,
        fill: impl FnOnce(&mut HloInstructionProto),
    ) -> Result<Vec<Id>> {
        let dtypes: Vec<DType> = self.arrays(xs)?.iter().map(|x| x.dtype).collect();
        let same = dtypes.first().filter(|first| dtypes.iter().all(|dtype| dtype == *first));
        let dtype = *same.ok_or_else(|| {
            let message = format!("{} combines operands of one element type, found {dtypes:?}", opcode.name());
            Diagnostic::error(codes::TYPE_MISMATCH, message)
        })?;
        let reducer = self.module.scalar_reducer(kind, dtype)?;
        self.of_each(opcode, xs, groups, result, |inst| {
            fill(inst);
            inst.called_computation_ids = smallvec![reducer.index() as i64];
        })
    }

    /// One instruction with a result for each operand: an array, or the elements of a tuple of several.
    fn of_each(
        &mut self,
        opcode: Opcode,
        xs: &[Id],
        groups: &[Vec<usize>],
        result: impl Fn(&ArrayType) -> Result<ArrayType>,
        fill: impl FnOnce(&mut HloInstructionProto),
    ) -> Result<Vec<Id>> {
        let mut types = self.arrays(xs)?.into_iter().map(result).collect::<Result<Vec<_>>>()?;
        let (count, form) = (types.len(), self.module.collectives);
        let mut operands = xs.to_vec();
        let ordered = form.ordered.filter(|_| count > 0);
        if ordered.is_some() {
            let dtype = types[0].dtype;
            operands.push(self.take_token(dtype)?);
            types.push(ArrayType::scalar(dtype));
        }
        let (channel, messages) = (self.module.next_channel(), self.groups(groups));
        let fill = |inst: &mut HloInstructionProto| {
            fill(inst);
            form.groups.fill(inst, messages);
            inst.channel_id = channel;
        };
        if let [ty] = &types[..] {
            return Ok(vec![self.push(opcode.name(), &operands, ty.clone(), fill)?]);
        }
        let types = types.into_iter().map(Type::Array).collect();
        let tuple = self.push(opcode.name(), &operands, Type::Tuple(types), fill)?;
        if let Some(streams) = ordered {
            self.hand_on(tuple, count, streams.of(opcode, groups))?;
        }
        (0..count).map(|index| self.get_tuple_element(tuple, index)).collect()
    }

    /// Part `j` of rank `i` along `dimension` becomes part `i` of rank `j`, within each group.
    pub fn all_to_all(&mut self, x: Id, dimension: usize, groups: &[Vec<usize>]) -> Result<Id> {
        let ty = infer::all_to_all(self.array(x)?, dimension, groups)?;
        let (field, messages) = (self.module.collectives.groups, self.groups(groups));
        self.push(Opcode::AllToAll.name(), &[x], ty, |inst| {
            inst.dimensions = smallvec![dimension as i64];
            field.fill(inst, messages);
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
