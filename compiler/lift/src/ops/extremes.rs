//! The largest or smallest elements with their places: reductions of two operands.

use super::trial::{Scalar, tried};
use crate::site::Site;
use halite_hlo::graph::Graph;
use halite_ir::Values;
use halite_ir::ops::{BroadcastInDim, Compare, Constant, Direction, Reduce, Reduction, Select};
use halite_tensor::{Dims, Shape};
use smallvec::smallvec;

/// The extreme of elements and, of the places of those that are as large, the first: that is the least of where the extreme stands.
pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let ("reduce", [x, places, init, _]) = (site.opcode(), site.operands()?) else { return None };
    let kind = kind(site.graph, site.graph.callee(site.at, 0)?)?;
    let (dtype, place) = (site.b.dtype(x), site.b.dtype(places));
    if *site.constant(init)?.value != kind.identity(dtype) {
        return None;
    }
    let mut dims = site.dims()?;
    dims.sort_unstable();
    let shape: Shape = site.b.shape(x).clone();
    let kept: Dims = (0..shape.rank()).filter(|dim| !dims.contains(dim)).collect();
    let extreme = site.emit(Reduce { kind, dims: dims.clone(), accumulate: dtype }, &[x])?;
    let spread = site.emit(BroadcastInDim { dims: kept, shape: shape.clone() }, &[extreme])?;
    let is_one = site.emit(Compare { direction: Direction::Eq }, &[x, spread])?;
    let last = site.emit(Constant::new(Reduction::Min.identity(place)), &[])?;
    let last = site.emit(BroadcastInDim { dims: Dims::new(), shape }, &[last])?;
    let there = site.emit(Select, &[is_one, places, last])?;
    let first = site.emit(Reduce { kind: Reduction::Min, dims, accumulate: place }, &[there])?;
    Some(smallvec![extreme, first])
}

/// The extreme that a computation keeps of two elements with their places.
///
/// All cases are tried: a computation that only compares and selects depends on nothing but the order of its operands, of which there
/// are these.
fn kind(graph: &Graph, computation: usize) -> Option<Reduction> {
    let kinds = [Reduction::Max, Reduction::Min];
    kinds.into_iter().find(|kind| {
        let cases =
            (0..3).flat_map(|x| (0..3).flat_map(move |y| (0..2).flat_map(move |i| (0..2).map(move |j| [x, i, y, j]))));
        cases.into_iter().all(|[x, i, y, j]| {
            let is_first = if *kind == Reduction::Max { x > y } else { x < y };
            let kept = match x == y {
                true => [x, i.min(j)],
                false if is_first => [x, i],
                false => [y, j],
            };
            let found = tried(graph, computation, &[x, i, y, j].map(Scalar::Int));
            matches!(found.as_deref(), Some([Scalar::Int(x), Scalar::Int(i)]) if [*x, *i] == kept)
        })
    })
}
