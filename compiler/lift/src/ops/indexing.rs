//! Reading and writing at positions.

use super::contraction::kind;
use crate::site::{Site, one};
use halite_hlo::{GatherDims, Opcode, ScatterDims};
use halite_ir::ops::{
    Add, And, BroadcastInDim, Clamp, Combine, Compare, Constant, Direction, DynamicSlice, DynamicUpdateSlice, Gather,
    Reduction, Scatter, Select, Take, TakeAlongAxis, TakeAlongAxisGrad, TakeGrad,
};
use halite_ir::{Op, Value, Values};
use halite_tensor::{DType, Dims, Shape};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "dynamic-slice" => {
            let shape = site.ty()?.shape().clone();
            started(site, DynamicSlice { shape }, 1)
        }
        "dynamic-update-slice" => started(site, DynamicUpdateSlice, 2),
        "gather" => gather(site),
        "scatter" => scatter(site),
        _ => None,
    }
}

/// Emits an op whose operands from `leading` on are the positions at which it starts.
fn started(site: &mut Site<'_, '_>, op: impl Into<Op>, leading: usize) -> Option<Values> {
    let mut args: Vec<Value> = site.args.get(..leading)?.to_vec();
    for &start in &site.args[leading..] {
        args.push(site.converted(start, DType::S32)?);
    }
    site.emit(op, &args).map(one)
}

/// The dimension that an index addresses, with the dimensions that walk along it and those that go with dimensions of the indices.
struct Addressed<'a> {
    /// Dimensions of what is read, or of what is written, that walk inside a slice; that which is addressed has its place among them
    /// unless it is collapsed.
    walks: &'a [usize],
    collapsed: &'a [usize],
    map: &'a [usize],
    vector: usize,
    paired: (&'a [usize], &'a [usize]),
}

/// Indices that address one dimension alone.
struct Along {
    dim: usize,
    indices: Value,
    /// Whether the indices were clamped, so that all lie inside.
    inside: bool,
    of: Each,
}

/// The part of a tensor that an index addresses.
enum Each {
    /// A whole slice: the dimensions of what `take` gives, in the order of the gather.
    Slice(Dims),
    /// One element.
    Element,
}

impl Addressed<'_> {
    /// The addressing of a tensor of this shape by indices; `None` where it is otherwise than along one dimension.
    fn along(&self, site: &mut Site<'_, '_>, shape: &Shape, indices: Value) -> Option<Along> {
        let &[dim] = self.map else { return None };
        let (rank, is_kept) = (shape.rank(), self.collapsed.is_empty());
        if dim >= rank || !(is_kept || self.collapsed == [dim]) {
            return None;
        }
        let (indices, inside) = self.indices(site, indices, shape[dim])?;
        let count = site.b.shape(indices).rank();
        if self.paired.0.is_empty() {
            let walks = if is_kept { without(self.walks, dim)? } else { Dims::from_slice(self.walks) };
            let slices = || Along { dim, indices, inside, of: Each::Slice(order(dim, count, &walks)) };
            return (walks.len() + 1 == rank).then(slices);
        }
        let others = || (0..rank).filter(|&other| other != dim);
        let paired = others().eq(self.paired.0.iter().copied()) && others().eq(self.paired.1.iter().copied());
        let is_each = paired && self.walks.is_empty() && count == rank;
        is_each.then_some(Along { dim, indices, inside, of: Each::Element })
    }

    /// The indices without the dimension of their vectors, which have one entry, and without a clamp, which the ops make themselves.
    /// Whether there was a clamp comes with them.
    fn indices(&self, site: &mut Site<'_, '_>, indices: Value, size: usize) -> Option<(Value, bool)> {
        let mut shape = site.b.shape(indices).clone().into_dims();
        let is_vector = self.vector < shape.len();
        if is_vector && shape.remove(self.vector) != 1 {
            return None;
        }
        let free = unclamped(site, indices, size);
        let indices = site.reshaped(free.unwrap_or(indices), shape.into())?;
        Some((in_s32(site, indices, size)?, free.is_some()))
    }
}

/// Whether windows of these sizes are one position of a dimension and all of the others.
fn is_slice(sizes: &[usize], shape: &Shape, dim: usize) -> bool {
    let whole = |other: usize| if other == dim { 1 } else { shape[other] };
    sizes.len() == shape.rank() && (0..shape.rank()).all(|other| sizes[other] == whole(other))
}

/// The dimensions that walk inside a slice, once that at a position is dropped.
fn without(walks: &[usize], position: usize) -> Option<Dims> {
    let dropped = *walks.get(position)?;
    let rest = walks.iter().filter(|&&walk| walk != dropped);
    Some(rest.map(|&walk| if walk > dropped { walk - 1 } else { walk }).collect())
}

/// The dimensions of what `take` gives, in the order of a gather whose slices walk along these.
fn order(dim: usize, count: usize, walks: &[usize]) -> Dims {
    let mut slices = (0..dim).chain(dim + count..walks.len() + count);
    let mut indices = dim..dim + count;
    let own = |at: usize| if walks.contains(&at) { slices.next() } else { indices.next() };
    (0..walks.len() + count).map_while(own).collect()
}

/// Indices of any integer type as `s32`; those that it cannot name become others outside of `0..size`.
fn in_s32(site: &mut Site<'_, '_>, indices: Value, size: usize) -> Option<Value> {
    let (dtype, shape) = (site.b.dtype(indices), site.b.shape(indices).clone());
    if dtype.bits() < 32 || dtype == DType::S32 || i32::try_from(size).is_err() {
        return site.converted(indices, DType::S32);
    }
    let least = if dtype.is_signed() { -1.0 } else { 0.0 };
    let [low, high] = [least, size as f64].map(|bound| site.emit(Constant::splat(dtype, shape.clone(), bound), &[]));
    let near = site.emit(Clamp, &[low?, indices, high?])?;
    site.converted(near, DType::S32)
}

fn unclamped(site: &Site<'_, '_>, indices: Value, size: usize) -> Option<Value> {
    clamped(site, indices, |low, high| (low.splat_value(), high.splat_value()) == (Some(0.0), Some(size as f64 - 1.0)))
}

/// The operand of a clamp between constants of which this holds.
fn clamped(site: &Site<'_, '_>, indices: Value, holds: impl Fn(&Constant, &Constant) -> bool) -> Option<Value> {
    let clamp = site.b.function().def(indices).filter(|inst| matches!(inst.op, Op::Clamp(Clamp)))?;
    holds(site.constant(clamp.args[0])?, site.constant(clamp.args[2])?).then(|| clamp.args[1])
}

fn gather(site: &mut Site<'_, '_>) -> Option<Values> {
    along_one_dimension(site).or_else(|| windows(site))
}

/// Windows of any form. A clamp of their starts, which the op makes itself, is left out.
fn windows(site: &mut Site<'_, '_>) -> Option<Values> {
    let [x, indices] = site.operands()?;
    let dims = GatherDims::from_proto(site.inst().gather_dimension_numbers.as_deref()?).ok()?;
    let op = Gather::of(dims, crate::site::dims(&site.inst().gather_slice_sizes)?);
    let shape = site.b.shape(x);
    let fits = |&dim: &usize| op.slice_sizes.get(dim).zip(shape.get(dim)).is_some_and(|(size, whole)| size <= whole);
    let is_known = op.start_index_map.iter().all(fits);
    let limits = if is_known { op.limits(site.b.ty(x)) } else { return None };
    let inside = |low: &Constant, high: &Constant| {
        let (starts, ends) = (low.value.ints(), high.value.ints());
        let is_end = |(at, &limit): (usize, &usize)| ends.get(at).or(ends.first()) == Some(&(limit as i128));
        starts == [0] && (ends.len() == limits.len() || ends.len() == 1) && limits.iter().enumerate().all(is_end)
    };
    let indices = clamped(site, indices, inside).unwrap_or(indices);
    site.emit(op, &[x, indices]).map(one)
}

fn along_one_dimension(site: &mut Site<'_, '_>) -> Option<Values> {
    let [x, indices] = site.operands()?;
    let dims = GatherDims::from_proto(site.inst().gather_dimension_numbers.as_deref()?).ok()?;
    let sizes = crate::site::dims(&site.inst().gather_slice_sizes)?;
    let shape = site.b.shape(x).clone();
    let addressed = Addressed {
        walks: &dims.offset_dims,
        collapsed: &dims.collapsed_slice_dims,
        map: &dims.start_index_map,
        vector: dims.index_vector_dim,
        paired: (&dims.operand_batching_dims, &dims.indices_batching_dims),
    };
    let Along { dim, indices, of, .. } = addressed.along(site, &shape, indices)?;
    match of {
        Each::Slice(order) => {
            let taken =
                if is_slice(&sizes, &shape, dim) { site.emit(Take { dim }, &[x, indices])? } else { return None };
            let (taken, shape) = (site.transposed(taken, order)?, site.ty()?.shape().clone());
            site.reshaped(taken, shape).map(one)
        }
        Each::Element => site.emit(TakeAlongAxis { dim }, &[x, indices]).map(one),
    }
}

fn scatter(site: &mut Site<'_, '_>) -> Option<Values> {
    added(site).or_else(|| {
        let [x, indices, updates] = site.operands()?;
        let dims = ScatterDims::from_proto(site.inst().scatter_dimension_numbers.as_deref()?).ok()?;
        let op = Scatter::of(combine(site)?, dims, site.inst().unique_indices);
        site.emit(op, &[x, indices, updates]).map(one)
    })
}

/// How a scatter combines an update with the element at its position.
fn combine(site: &Site<'_, '_>) -> Option<Combine> {
    let combiner = site.graph.callee(site.at, 0)?;
    let mut root = site.graph.root(combiner)?;
    while site.graph.opcode(root) == "copy" {
        root = site.graph.operand(root, 0)?;
    }
    if site.graph.opcode(root) == "parameter" {
        return (site.graph.inst(root).parameter_number == 1).then_some(Combine::Replace);
    }
    let op = Opcode::parse(site.combiner()?)?;
    Combine::ALL.iter().copied().find(|kind| kind.hlo().map(|kind| Opcode::from(kind.op())) == Some(op))
}

/// A scatter that adds along one dimension: what it adds, on what there is unless that is zero.
fn added(site: &mut Site<'_, '_>) -> Option<Values> {
    let ([x, indices, updates], Reduction::Sum) = (site.operands()?, kind(site)?) else { return None };
    let dims = ScatterDims::from_proto(site.inst().scatter_dimension_numbers.as_deref()?).ok()?;
    let shape = site.b.shape(x).clone();
    let addressed = Addressed {
        walks: &dims.update_window_dims,
        collapsed: &dims.inserted_window_dims,
        map: &dims.scatter_dims_to_operand_dims,
        vector: dims.index_vector_dim,
        paired: (&dims.operand_batching_dims, &dims.indices_batching_dims),
    };
    let Along { dim, indices, inside, of } = addressed.along(site, &shape, indices)?;
    let sums = match of {
        Each::Slice(order) => {
            let written = site.b.shape(updates);
            let own = (0..shape.rank()).filter(|other| !dims.inserted_window_dims.contains(other));
            let mut sizes = Dims::from_elem(1, shape.rank());
            for (other, &walk) in own.zip(&dims.update_window_dims) {
                sizes[other] = *written.get(walk)?;
            }
            if !is_slice(&sizes, &shape, dim) {
                return None;
            }
            let indexed = site.b.shape(indices).iter().copied();
            let taken: Dims =
                shape[..dim].iter().copied().chain(indexed).chain(shape[dim + 1..].iter().copied()).collect();
            let mut back = order.clone();
            order.iter().enumerate().for_each(|(at, &from)| back[from] = at);
            let gathered: Shape = order.iter().map(|&from| taken[from]).collect();
            let updates = site.reshaped(updates, gathered)?;
            let updates = site.transposed(updates, back)?;
            let updates = if inside { updates } else { kept(site, updates, indices, (dim, shape[dim]))? };
            site.emit(TakeGrad { dim, shape }, &[updates, indices])?
        }
        Each::Element => {
            let updates = if inside { updates } else { kept(site, updates, indices, (0, shape[dim]))? };
            site.emit(TakeAlongAxisGrad { dim, shape }, &[updates, indices])?
        }
    };
    if site.constant(x).and_then(|constant| constant.splat_value()) == Some(0.0) {
        return Some(one(sums));
    }
    site.emit(Add, &[x, sums]).map(one)
}

/// Updates whose indices, which have their dimensions from `first` on, name one of `size` positions; the others are zero.
fn kept(site: &mut Site<'_, '_>, updates: Value, indices: Value, (first, size): (usize, usize)) -> Option<Value> {
    let number = |site: &mut Site<'_, '_>, number: usize| {
        let shape = site.b.shape(indices).clone();
        site.emit(Constant::splat(DType::S32, shape, number as f64), &[])
    };
    let (low, end) = (number(site, 0)?, number(site, size)?);
    let after = site.emit(Compare { direction: Direction::Ge }, &[indices, low])?;
    let before = site.emit(Compare { direction: Direction::Lt }, &[indices, end])?;
    let inside = site.emit(And, &[after, before])?;
    let (dtype, shape) = (site.b.dtype(updates), site.b.shape(updates).clone());
    let dims: Dims = (first..first + site.b.shape(indices).rank()).collect();
    let inside = site.emit(BroadcastInDim { dims, shape: shape.clone() }, &[inside])?;
    let nothing = site.emit(Constant::splat(dtype, shape, 0.0), &[])?;
    site.emit(Select, &[inside, updates, nothing])
}
