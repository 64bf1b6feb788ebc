//! The largest or smallest elements with their places: reductions of two operands.

use super::trial::{Scalar, tried};
use crate::site::Site;
use halite_hlo::graph::Graph;
use halite_ir::Values;
use halite_ir::ops::{BroadcastInDim, Compare, Constant, Direction, Or, Reduce, Reduction, Select};
use halite_tensor::{Dims, Shape};
use smallvec::smallvec;

/// The extreme of elements and, of the places of those that are as large, the first: that is the least of where the extreme stands.
pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let ("reduce", [x, places, init, _]) = (site.opcode(), site.operands()?) else { return None };
    let computation = site.graph.callee(site.at, 0)?;
    let kind = kind(site.graph, computation)?;
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
    let mut is_one = site.emit(Compare { direction: Direction::Eq }, &[x, spread])?;
    if dtype.is_float() && takes_nan(site.graph, computation) {
        // An extreme that is NaN equals none.
        let is_nan = site.emit(Compare { direction: Direction::Ne }, &[x, x])?;
        is_one = site.emit(Or, &[is_one, is_nan])?;
    }
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

/// Whether a computation that keeps an extreme of two elements keeps NaN, and of two the first.
fn takes_nan(graph: &Graph, computation: usize) -> bool {
    let kept = |x: f64, y: f64| match tried(
        graph,
        computation,
        &[Scalar::Float(x), Scalar::Int(0), Scalar::Float(y), Scalar::Int(1)],
    )
    .as_deref()
    {
        Some(&[x, Scalar::Int(place)]) if x.is_nan() => Some(place),
        _ => None,
    };
    kept(f64::NAN, 1.0) == Some(0) && kept(1.0, f64::NAN) == Some(1) && kept(f64::NAN, f64::NAN) == Some(0)
}
