//! Elements combined by any computation of scalars, in their order: all along some dimensions, or each with all before it.

use super::contraction::{is_identity, kind};
use super::elementwise;
use super::windows::{Line, only};
use crate::site::Site;
use halite_hlo::SliceDim;
use halite_ir::ops::{BroadcastInDim, Concatenate, Constant, Slice};
use halite_ir::{TensorType, Value, Values};
use halite_tensor::{Dims, Shape};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "reduce" => reduce(site),
        "reduce-window" => cumulative(site),
        _ => None,
    }
}

/// Neighbours combined until one is left, which is combined with what is begun with.
fn reduce(site: &mut Site<'_, '_>) -> Option<Values> {
    let mut dims = site.dims()?;
    dims.sort_unstable();
    let (xs, inits) = site.args.split_at(site.args.len() / 2);
    let shape = site.b.shape(*xs.first()?).clone();
    let kept: Dims = (0..shape.rank()).filter(|dim| !dims.contains(dim)).collect();
    let order: Dims = kept.iter().chain(&dims).copied().collect();
    let result: Shape = kept.iter().map(|&dim| shape[dim]).collect();
    let mut size = dims.iter().try_fold(1_usize, |size, &dim| size.checked_mul(*shape.get(dim)?))?;
    let last = kept.len();
    let flat: Shape = result.iter().copied().chain([size]).collect();
    let flattened = |&x: &Value| {
        let x = site.transposed(x, order.clone())?;
        site.reshaped(x, flat.clone())
    };
    let mut values: Values = xs.iter().map(flattened).collect::<Option<_>>()?;
    while size > 1 {
        let pairs = size - size % 2;
        let first = each(site, &values, |site, x| part(site, x, last, SliceDim { start: 0, limit: pairs, stride: 2 }))?;
        let second =
            each(site, &values, |site, x| part(site, x, last, SliceDim { start: 1, limit: pairs, stride: 2 }))?;
        let mut next = combined(site, &first, &second)?;
        if pairs < size {
            let rest = each(site, &values, |site, x| part(site, x, last, positions(pairs, size)))?;
            next = joined(site, last, &next, &rest)?;
        }
        (values, size) = (next, pairs / 2 + size % 2);
    }
    let begun = inits.iter().map(|&init| spread(site, init, &result)).collect::<Option<Values>>()?;
    if size == 0 {
        return Some(begun);
    }
    let values = each(site, &values, |site, x| site.reshaped(x, result.clone()))?;
    combined(site, &begun, &values)
}

/// Windows of each element and all before it, or all after it, along one dimension: what is combined reaches twice as far each time.
fn cumulative(site: &mut Site<'_, '_>) -> Option<Values> {
    let (xs, inits) = site.args.split_at(site.args.len() / 2);
    let shape = site.b.shape(*xs.first()?).clone();
    let windows = &site.inst().window.as_deref()?.dimensions;
    let lines: Vec<Line> = windows.iter().map(Line::of).collect::<Option<_>>()?;
    let are_points = lines.iter().all(Line::is_point);
    let (dim, line) = if are_points { (0, lines.first()?) } else { only(&lines)? };
    let size = if are_points { 1 } else { *shape.get(dim)? };
    let all = i64::try_from(size).ok()?;
    let forwards = line.before >= all - 1 && line.size == line.before + 1;
    let backwards = line.before == 0 && line.size >= all;
    let is_other = xs.iter().any(|&x| *site.b.shape(x) != shape) || site.types.iter().any(|ty| *ty.shape() != shape);
    if line.stride != 1 || !(forwards || backwards) || is_other {
        return None;
    }
    let (mut values, mut reach) = (Values::from_slice(xs), 1);
    while reach < size {
        let early = each(site, &values, |site, x| part(site, x, dim, positions(0, size - reach)))?;
        let late = each(site, &values, |site, x| part(site, x, dim, positions(reach, size)))?;
        let own = combined(site, &early, &late)?;
        let alone = if forwards { positions(0, reach) } else { positions(size - reach, size) };
        let alone = each(site, &values, |site, x| part(site, x, dim, alone))?;
        let halves = if forwards { [&alone, &own] } else { [&own, &alone] };
        values = joined(site, dim, halves[0], halves[1])?;
        reach *= 2;
    }
    match (kind(site), inits) {
        (Some(kind), &[init]) if is_identity(site, kind, init) => Some(values),
        _ => {
            let begun = inits.iter().map(|&init| spread(site, init, &shape)).collect::<Option<Values>>()?;
            combined(site, &begun, &values)
        }
    }
}

/// The computation of an instruction on elements of one shape, of each operand one and then another.
fn combined(site: &mut Site<'_, '_>, first: &[Value], second: &[Value]) -> Option<Values> {
    let shape = site.b.shape(*first.first()?).clone();
    let graph = site.graph;
    let computation = graph.computations().get(graph.callee(site.at, 0)?)?;
    let args: Values = first.iter().chain(second).copied().collect();
    let mut values: Vec<Option<Value>> = vec![None; computation.range().len()];
    for at in computation.range() {
        let operand = |number: usize| *values.get(graph.operand(at, number)?.checked_sub(computation.first)?)?;
        let operands: Values = (0..graph.operands(at).len()).map(operand).collect::<Option<_>>()?;
        let value = match graph.opcode(at) {
            "parameter" => *args.get(usize::try_from(graph.inst(at).parameter_number).ok()?)?,
            "constant" => {
                let constant = Constant::new(graph.inst(at).literal.as_deref()?.tensor()?);
                let constant = site.emit(constant, &[])?;
                spread(site, constant, &shape)?
            }
            "tuple" if Some(at) == computation.root => return Some(operands),
            _ => {
                let types = [TensorType::new(graph.shape(at)?.dtype()?, shape.clone())];
                let Site { ranks, functions, .. } = *site;
                let mut own = Site { graph, at, b: site.b, args: &operands, types: &types, ranks, functions };
                let made = elementwise::lifted(&mut own)?;
                made.first().copied().filter(|&made| own.b.ty(made) == &types[0])?
            }
        };
        *values.get_mut(at - computation.first)? = Some(value);
    }
    let root = values.get(computation.root?.checked_sub(computation.first)?).copied().flatten()?;
    Some(Values::from_slice(&[root]))
}

/// A scalar for each element of a shape.
fn spread(site: &mut Site<'_, '_>, x: Value, shape: &Shape) -> Option<Value> {
    if site.b.shape(x) == shape {
        return Some(x);
    }
    site.emit(BroadcastInDim { dims: Dims::new(), shape: shape.clone() }, &[x])
}

fn each(
    site: &mut Site<'_, '_>,
    values: &[Value],
    mut change: impl FnMut(&mut Site<'_, '_>, Value) -> Option<Value>,
) -> Option<Values> {
    values.iter().map(|&value| change(site, value)).collect()
}

/// All positions from one up to another.
fn positions(start: usize, limit: usize) -> SliceDim {
    SliceDim { start, limit, stride: 1 }
}

/// Some positions of a dimension.
fn part(site: &mut Site<'_, '_>, x: Value, dim: usize, range: SliceDim) -> Option<Value> {
    let mut limit: Dims = site.b.shape(x).iter().copied().collect();
    let (mut start, mut stride) = (Dims::from_elem(0, limit.len()), Dims::from_elem(1, limit.len()));
    (start[dim], limit[dim], stride[dim]) = (range.start, range.limit, range.stride);
    site.emit(Slice { start, limit, stride }, &[x])
}

fn joined(site: &mut Site<'_, '_>, dim: usize, first: &[Value], second: &[Value]) -> Option<Values> {
    first.iter().zip(second).map(|(&first, &second)| site.emit(Concatenate { dim }, &[first, second])).collect()
}
