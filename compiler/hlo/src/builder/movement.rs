//! Instructions that move elements by static positions, and contractions.

use super::{ComputationBuilder, Id};
use crate::attributes::{DotDims, PadDim, SliceDim, to_i64s};
use crate::infer;
use crate::opcode::{Opcode, ReduceKind};
use crate::proto::PaddingConfig;
use halite_support::Result;
use halite_tensor::{DType, Shape};
use smallvec::smallvec;

impl ComputationBuilder<'_> {
    /// `x` repeated to `shape`; its dimension `i` becomes dimension `dims[i]`, ascending.
    pub fn broadcast(&mut self, x: Id, shape: &Shape, dims: &[usize]) -> Result<Id> {
        let ty = infer::broadcast(self.array(x)?, shape, dims)?;
        self.push(Opcode::Broadcast.name(), &[x], ty, |inst| inst.dimensions = to_i64s(dims))
    }

    /// The elements of `x` in row-major order under another shape.
    pub fn reshape(&mut self, x: Id, shape: &Shape) -> Result<Id> {
        let ty = infer::reshape(self.array(x)?, shape)?;
        self.push(Opcode::Reshape.name(), &[x], ty, |_| {})
    }

    /// Result dimension `i` is dimension `permutation[i]` of `x`.
    pub fn transpose(&mut self, x: Id, permutation: &[usize]) -> Result<Id> {
        let ty = infer::transpose(self.array(x)?, permutation)?;
        self.push(Opcode::Transpose.name(), &[x], ty, |inst| inst.dimensions = to_i64s(permutation))
    }

    /// `x` backwards along `dims`.
    pub fn reverse(&mut self, x: Id, dims: &[usize]) -> Result<Id> {
        let ty = infer::reverse(self.array(x)?, dims)?;
        self.push(Opcode::Reverse.name(), &[x], ty, |inst| inst.dimensions = to_i64s(dims))
    }

    /// The part of `x` in one range per dimension.
    pub fn slice(&mut self, x: Id, ranges: &[SliceDim]) -> Result<Id> {
        let ty = infer::slice(self.array(x)?, ranges)?;
        self.push(Opcode::Slice.name(), &[x], ty, |inst| {
            inst.slice_dimensions = ranges.iter().map(|range| range.to_proto()).collect();
        })
    }

    /// `x` with the scalar `value` around and between its elements.
    pub fn pad(&mut self, x: Id, value: Id, padding: &[PadDim]) -> Result<Id> {
        let ty = infer::pad(self.array(x)?, self.array(value)?, padding)?;
        self.push(Opcode::Pad.name(), &[x, value], ty, |inst| {
            let dimensions = padding.iter().map(|padding| padding.to_proto()).collect();
            inst.padding_config = Some(Box::new(PaddingConfig { dimensions }));
        })
    }

    /// The operands one after another along `dimension`.
    pub fn concatenate(&mut self, operands: &[Id], dimension: usize) -> Result<Id> {
        let ty = infer::concatenate(&self.arrays(operands)?, dimension)?;
        self.push(Opcode::Concatenate.name(), operands, ty, |inst| inst.dimensions = smallvec![dimension as i64])
    }

    /// Products summed over the contracting dimensions, in elements of type `dtype`.
    pub fn dot(&mut self, lhs: Id, rhs: Id, dims: &DotDims, dtype: DType) -> Result<Id> {
        let ty = infer::dot(self.array(lhs)?, self.array(rhs)?, dims, dtype)?;
        let numbers = Box::new(dims.to_proto());
        self.push(Opcode::Dot.name(), &[lhs, rhs], ty, |inst| inst.dot_dimension_numbers = Some(numbers))
    }

    /// `x` combined over `dims`, starting from the scalar `init`.
    pub fn reduce(&mut self, kind: ReduceKind, x: Id, init: Id, dims: &[usize]) -> Result<Id> {
        let ty = infer::reduce(self.array(x)?, self.array(init)?, dims)?;
        let reducer = self.module.scalar_reducer(kind, ty.dtype)?;
        self.push(Opcode::Reduce.name(), &[x, init], ty, |inst| {
            inst.dimensions = to_i64s(dims);
            inst.called_computation_ids = smallvec![reducer.index() as i64];
        })
    }
}
