//! Ops that put elements elsewhere.

use crate::site::{Site, dims, one};
use halite_hlo::proto::ShapeProto;
use halite_hlo::{PadDim, SliceDim};
use halite_ir::Values;
use halite_ir::ops::{BroadcastInDim, Concatenate, Pad, Reverse, Slice};
use halite_tensor::{Dims, Shape};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "broadcast" => broadcast(site),
        "reshape" => {
            let ([x], shape) = (site.operands()?, site.ty()?.shape().clone());
            site.reshaped(x, shape).map(one)
        }
        "bitcast" => bitcast(site),
        "transpose" => {
            let [x] = site.operands()?;
            let permutation = site.dims()?;
            site.transposed(x, permutation).map(one)
        }
        "reverse" => {
            let mut dims = site.dims()?;
            dims.sort_unstable();
            site.apply(Reverse { dims })
        }
        "slice" => slice(site),
        "pad" => pad(site),
        "concatenate" => {
            let dim = site.dim()?;
            site.apply(Concatenate { dim })
        }
        _ => None,
    }
}

/// The op wants dimensions that increase: others are brought into their order before.
fn broadcast(site: &mut Site<'_, '_>) -> Option<Values> {
    let ([x], mut dims) = (site.operands()?, site.dims()?);
    let shape = site.ty()?.shape().clone();
    let mut order: Dims = (0..dims.len()).collect();
    order.sort_unstable_by_key(|&at| dims[at]);
    dims.sort_unstable();
    let x = if dims.len() == site.b.shape(x).rank() { site.transposed(x, order)? } else { return None };
    site.emit(BroadcastInDim { dims, shape }, &[x]).map(one)
}

/// The same bytes under another shape: a reshape of what they are in the order of memory.
fn bitcast(site: &mut Site<'_, '_>) -> Option<Values> {
    let [x] = site.operands()?;
    let (from, to) = (site.graph.operand_shape(site.at, 0)?, site.graph.shape(site.at)?);
    if from.element_type != to.element_type {
        return None;
    }
    let (from, to) = (in_memory(from)?, in_memory(to)?);
    let shape = site.ty()?.shape();
    let laid: Shape = to.iter().map(|&dim| shape[dim]).collect();
    let x = site.transposed(x, from)?;
    let x = site.reshaped(x, laid)?;
    let mut back = to.clone();
    to.iter().enumerate().for_each(|(at, &dim)| back[dim] = at);
    site.transposed(x, back).map(one)
}

/// The dimensions in the order of memory, the major one first.
fn in_memory(shape: &ShapeProto) -> Option<Dims> {
    let rank = shape.dimensions.len();
    let Some(layout) = &shape.layout else { return Some((0..rank).collect()) };
    let order: Dims = dims(&layout.minor_to_major)?.into_iter().rev().collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank).then_some(order)
}

fn slice(site: &mut Site<'_, '_>) -> Option<Values> {
    let ranges: Option<Vec<SliceDim>> =
        site.inst().slice_dimensions.iter().map(|dim| SliceDim::from_proto(dim).ok()).collect();
    let ranges = ranges?;
    let of = |part: fn(&SliceDim) -> usize| -> Dims { ranges.iter().map(part).collect() };
    site.apply(Slice { start: of(|dim| dim.start), limit: of(|dim| dim.limit), stride: of(|dim| dim.stride) })
}

fn pad(site: &mut Site<'_, '_>) -> Option<Values> {
    let config = site.inst().padding_config.as_deref()?;
    let dims: Option<Vec<PadDim>> = config.dimensions.iter().map(|dim| PadDim::from_proto(dim).ok()).collect();
    let dims = dims?;
    site.apply(Pad {
        low: dims.iter().map(|dim| dim.low).collect(),
        high: dims.iter().map(|dim| dim.high).collect(),
        interior: dims.iter().map(|dim| dim.interior).collect(),
    })
}
