//! The largest or smallest elements with their places: reductions of two operands.

use super::elementwise::direction;
use crate::site::Site;
use halite_hlo::Comparison;
use halite_hlo::graph::Graph;
use halite_ir::Values;
use halite_ir::ops::{BroadcastInDim, Compare, Constant, Direction, Reduce, Reduction, Select};
use halite_tensor::{Dims, Shape};
use rustc_hash::FxHashMap;
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
            given(graph, computation, [x, i, y, j]) == Some(kept)
        })
    })
}

/// Evaluates a computation on numbers that stand for their order.
fn given(graph: &Graph, computation: usize, args: [i32; 4]) -> Option<[i32; 2]> {
    let computation = graph.computations().get(computation)?;
    let mut values: FxHashMap<usize, i32> = FxHashMap::default();
    for at in computation.range() {
        let operand = |number| graph.operand(at, number).and_then(|operand| values.get(&operand).copied());
        let value = match graph.opcode(at) {
            "parameter" => *args.get(usize::try_from(graph.inst(at).parameter_number).ok()?)?,
            "compare" => {
                let direction = direction(Comparison::parse(&graph.inst(at).comparison_direction)?);
                i32::from(direction.holds(&operand(0)?, &operand(1)?))
            }
            "select" => operand(if operand(0)? == 0 { 2 } else { 1 })?,
            "or" => operand(0)? | operand(1)?,
            "and" => operand(0)? & operand(1)?,
            "not" => 1 - operand(0)?,
            "maximum" => operand(0)?.max(operand(1)?),
            "minimum" => operand(0)?.min(operand(1)?),
            "tuple" if Some(at) == computation.root => return Some([operand(0)?, operand(1)?]),
            _ => return None,
        };
        values.insert(at, value);
    }
    None
}
