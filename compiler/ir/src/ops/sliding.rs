//! Helpers of the ops that move windows over a tensor.

use super::movement::{link_result, offset};
use crate::dims::{FactorKind, FactorMap};
use crate::op::attr_error;
use crate::ty::TensorType;
use halite_hlo::WindowDim;
use halite_support::Result;
use halite_tensor::{Dims, Indices, Shape};

/// Windows over a tensor of a shape.
pub(super) struct Sliding<'a> {
    windows: &'a [WindowDim],
    shape: &'a Shape,
    strides: Dims,
    insides: Vec<Dims>,
}

impl<'a> Sliding<'a> {
    pub(super) fn new(windows: &'a [WindowDim], shape: &'a Shape) -> Self {
        let sizes: Shape = windows.iter().map(|dim| dim.size).collect();
        Self { windows, shape, strides: Dims::from_slice(&shape.strides()), insides: Indices::new(&sizes).collect() }
    }

    /// The offsets of the elements of a window, in row-major order; padding has none.
    pub(super) fn offsets(&self, window: &[usize]) -> impl Iterator<Item = usize> {
        self.insides.iter().filter_map(|inside| {
            let position = |dim: usize| self.windows[dim].position(window[dim], inside[dim], self.shape[dim]);
            let at: Option<Dims> = (0..self.windows.len()).map(position).collect();
            at.map(|at| offset(&at, &self.strides))
        })
    }
}

/// The positions that elements take once they are apart, which [`small_numbers`] bounds.
pub(super) fn dilated(size: usize, by: usize) -> i64 {
    WindowDim::dilated(size, by) as i64
}

/// The padding below and above under which windows over the cotangent, whose elements are apart by the strides, are those that each element
/// of the operand is in.
pub(super) fn backwards(window: &WindowDim, whole: usize, results: usize) -> (i64, i64) {
    let reach = dilated(window.size, window.window_dilation);
    let low = reach - window.low - 1;
    (low, dilated(whole, window.base_dilation) + reach - 1 - dilated(results, window.stride) - low)
}

/// Checks that numbers of windows are small enough for sums and products of them.
///
/// # Errors
/// Naming the op and the number.
pub(super) fn small_numbers(op: &str, sizes: &[&[usize]], paddings: &[&[i64]]) -> Result<()> {
    let sizes = sizes.iter().flat_map(|list| list.iter()).map(|&size| i64::try_from(size).unwrap_or(i64::MAX));
    let mut all = sizes.chain(paddings.iter().flat_map(|list| list.iter().copied()));
    match all.find(|number| number.unsigned_abs() >= 1 << 31) {
        Some(number) => Err(attr_error(format!("`{op}` takes numbers below 2^31, found {number}"))),
        None => Ok(()),
    }
}

/// A map of operands of one rank, of which the first has the windows, to a result of that rank: along dimensions of windows of one
/// element positions correspond.
pub(super) fn each_dim_mixed(args: &[&TensorType], results: &[TensorType], windows: &[WindowDim]) -> FactorMap {
    let mut map = FactorMap::new(args, results);
    for (dim, window) in windows.iter().enumerate() {
        let operands: Vec<(usize, usize)> = (0..args.len()).map(|operand| (operand, dim)).collect();
        if *window == WindowDim::POINT {
            map.link(args[0].shape()[dim], FactorKind::Parallel, &operands, Some(dim));
            continue;
        }
        for at in operands {
            map.link(args[at.0].shape()[dim], FactorKind::Mixed, &[at], None);
        }
        link_result(&mut map, results[0].shape()[dim], FactorKind::Mixed, dim);
    }
    map
}
