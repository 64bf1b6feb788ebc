//! Instructions that move elements by positions known at run time.

use super::{ComputationBuilder, Id};
use crate::attributes::{GatherDims, ScatterDims, to_i64s};
use crate::infer;
use crate::opcode::{Opcode, ReduceKind};
use halite_support::Result;
use smallvec::smallvec;

/// Facts that the caller knows about the indices of a gather or scatter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IndexFacts {
    /// They ascend.
    pub sorted: bool,
    /// No two address the same place.
    pub unique: bool,
}

impl ComputationBuilder<'_> {
    /// The part of `x` of the given sizes at one scalar start per dimension.
    pub fn dynamic_slice(&mut self, x: Id, starts: &[Id], sizes: &[usize]) -> Result<Id> {
        let ty = infer::dynamic_slice(self.array(x)?, &self.arrays(starts)?, sizes)?;
        let operands: Vec<Id> = std::iter::once(x).chain(starts.iter().copied()).collect();
        self.push(Opcode::DynamicSlice.name(), &operands, ty, |inst| inst.dynamic_slice_sizes = to_i64s(sizes))
    }

    /// `x` with `update` written at one scalar start per dimension.
    pub fn dynamic_update_slice(&mut self, x: Id, update: Id, starts: &[Id]) -> Result<Id> {
        let ty = infer::dynamic_update_slice(self.array(x)?, self.array(update)?, &self.arrays(starts)?)?;
        let operands: Vec<Id> = [x, update].into_iter().chain(starts.iter().copied()).collect();
        self.push(Opcode::DynamicUpdateSlice.name(), &operands, ty, |_| {})
    }

    /// Slices of `x` at the positions in `indices`.
    pub fn gather(
        &mut self,
        x: Id,
        indices: Id,
        dims: &GatherDims,
        slice_sizes: &[usize],
        facts: IndexFacts,
    ) -> Result<Id> {
        let ty = infer::gather(self.array(x)?, self.array(indices)?, dims, slice_sizes)?;
        let numbers = Box::new(dims.to_proto());
        self.push(Opcode::Gather.name(), &[x, indices], ty, |inst| {
            inst.gather_dimension_numbers = Some(numbers);
            inst.gather_slice_sizes = to_i64s(slice_sizes);
            inst.indices_are_sorted = facts.sorted;
        })
    }

    /// `x` with `updates` combined in at the positions in `indices`; without a kind, the update replaces the element.
    pub fn scatter(
        &mut self,
        kind: Option<ReduceKind>,
        x: Id,
        indices: Id,
        updates: Id,
        dims: &ScatterDims,
        facts: IndexFacts,
    ) -> Result<Id> {
        let ty = infer::scatter(self.array(x)?, self.array(indices)?, self.array(updates)?, dims)?;
        let combiner = match kind {
            Some(kind) => self.module.scalar_reducer(kind, ty.dtype)?,
            None => self.module.scalar_assigner(ty.dtype)?,
        };
        let numbers = Box::new(dims.to_proto());
        self.push(Opcode::Scatter.name(), &[x, indices, updates], ty, |inst| {
            inst.scatter_dimension_numbers = Some(numbers);
            inst.indices_are_sorted = facts.sorted;
            inst.unique_indices = facts.unique;
            inst.called_computation_ids = smallvec![combiner.index() as i64];
        })
    }
}
