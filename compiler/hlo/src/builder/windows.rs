//! Instructions that move windows over their operands.

use super::{ComputationBuilder, Id};
use crate::attributes::{ConvDims, WindowDim};
use crate::infer;
use crate::opcode::{Comparison, Opcode, ReduceKind};
use crate::proto::Window;
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

impl ComputationBuilder<'_> {
    /// The convolution of `x` with `kernel`, with results of type `dtype`. `groups` are those of features and of batches.
    pub fn convolution(
        &mut self,
        x: Id,
        kernel: Id,
        dims: &ConvDims,
        window: &[WindowDim],
        groups: (usize, usize),
        dtype: DType,
    ) -> Result<Id> {
        let ty = infer::convolution(self.array(x)?, self.array(kernel)?, dims, window, groups, dtype)?;
        let numbers = Box::new(dims.to_proto());
        self.push(Opcode::Convolution.name(), &[x, kernel], ty, |inst| {
            inst.convolution_dimension_numbers = Some(numbers);
            inst.window = Some(Box::new(to_window(window)));
            inst.feature_group_count = groups.0 as i64;
            inst.batch_group_count = groups.1 as i64;
        })
    }

    /// Combines the elements of each window of `x`, starting with the scalar `init`.
    pub fn reduce_window(&mut self, kind: ReduceKind, x: Id, init: Id, window: &[WindowDim]) -> Result<Id> {
        let ty = infer::reduce_window(self.array(x)?, self.array(init)?, window)?;
        let combiner = self.module.scalar_reducer(kind, ty.dtype)?;
        self.push(Opcode::ReduceWindow.name(), &[x, init], ty, |inst| {
            inst.window = Some(Box::new(to_window(window)));
            inst.called_computation_ids = smallvec![combiner.index() as i64];
        })
    }

    /// Adds the elements of `source` to the scalar `init` at the element of each window of `x` that `stays` selects before others.
    pub fn select_and_scatter(
        &mut self,
        stays: Comparison,
        x: Id,
        source: Id,
        init: Id,
        window: &[WindowDim],
    ) -> Result<Id> {
        let ty = infer::select_and_scatter(self.array(x)?, self.array(source)?, self.array(init)?, window)?;
        let selector = self.module.scalar_selector(stays, ty.dtype)?;
        let adder = self.module.scalar_reducer(ReduceKind::Add, ty.dtype)?;
        self.push(Opcode::SelectAndScatter.name(), &[x, source, init], ty, |inst| {
            inst.window = Some(Box::new(to_window(window)));
            inst.called_computation_ids = smallvec![selector.index() as i64, adder.index() as i64];
        })
    }
}

fn to_window(window: &[WindowDim]) -> Window {
    Window { dimensions: window.iter().map(|dim| dim.to_proto()).collect() }
}
