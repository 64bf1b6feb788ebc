//! Reading and writing at positions.

use super::contraction::kind;
use crate::site::{Site, one};
use halite_hlo::{GatherDims, ScatterDims};
use halite_ir::ops::{
    Add, Clamp, DynamicSlice, DynamicUpdateSlice, Reduction, Take, TakeAlongAxis, TakeAlongAxisGrad, TakeGrad,
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
enum Along {
    /// Whole slices.
    Slices { dim: usize, indices: Value, order: Dims },
    /// One element each.
    Elements { dim: usize, indices: Value },
}

impl Addressed<'_> {
    /// The addressing of a tensor of this shape by indices; `None` where it is otherwise than along one dimension.
    fn along(&self, site: &mut Site<'_, '_>, shape: &Shape, indices: Value) -> Option<Along> {
        let &[dim] = self.map else { return None };
        let (rank, is_kept) = (shape.rank(), self.collapsed.is_empty());
        if dim >= rank || !(is_kept || self.collapsed == [dim]) {
            return None;
        }
        let indices = self.indices(site, indices, shape[dim])?;
        let count = site.b.shape(indices).rank();
        if self.paired.0.is_empty() {
            let walks = if is_kept { without(self.walks, dim)? } else { Dims::from_slice(self.walks) };
            let slices = || Along::Slices { dim, indices, order: order(dim, count, &walks) };
            return (walks.len() + 1 == rank).then(slices);
        }
        let others = || (0..rank).filter(|&other| other != dim);
        let paired = others().eq(self.paired.0.iter().copied()) && others().eq(self.paired.1.iter().copied());
        (paired && self.walks.is_empty() && count == rank).then_some(Along::Elements { dim, indices })
    }

    /// The indices without the dimension of their vectors, which have one entry, and without a clamp, which the ops make themselves.
    fn indices(&self, site: &mut Site<'_, '_>, indices: Value, size: usize) -> Option<Value> {
        let mut shape = site.b.shape(indices).clone().into_dims();
        let is_vector = self.vector < shape.len();
        if is_vector && shape.remove(self.vector) != 1 {
            return None;
        }
        let indices = unclamped(site, indices, size);
        let indices = site.reshaped(indices, shape.into())?;
        site.converted(indices, DType::S32)
    }
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

fn unclamped(site: &Site<'_, '_>, indices: Value, size: usize) -> Value {
    let clamp = site.b.function().def(indices).filter(|inst| matches!(inst.op, Op::Clamp(Clamp)));
    let Some(clamp) = clamp else { return indices };
    let bound = |at: usize| site.constant(clamp.args[at]).and_then(|bound| bound.splat_value());
    if (bound(0), bound(2)) == (Some(0.0), Some(size as f64 - 1.0)) { clamp.args[1] } else { indices }
}

fn gather(site: &mut Site<'_, '_>) -> Option<Values> {
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
    match addressed.along(site, &shape, indices)? {
        Along::Slices { dim, indices, order } => {
            let whole = (0..shape.rank()).all(|other| other == dim || sizes.get(other) == Some(&shape[other]));
            let taken = if whole { site.emit(Take { dim }, &[x, indices])? } else { return None };
            let (taken, shape) = (site.transposed(taken, order)?, site.ty()?.shape().clone());
            site.reshaped(taken, shape).map(one)
        }
        Along::Elements { dim, indices } => site.emit(TakeAlongAxis { dim }, &[x, indices]).map(one),
    }
}

/// A scatter that adds: what it adds, on what there is unless that is zero.
fn scatter(site: &mut Site<'_, '_>) -> Option<Values> {
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
    let sums = match addressed.along(site, &shape, indices)? {
        Along::Slices { dim, indices, order } => {
            let indexed = site.b.shape(indices).iter().copied();
            let taken: Dims =
                shape[..dim].iter().copied().chain(indexed).chain(shape[dim + 1..].iter().copied()).collect();
            let mut back = order.clone();
            order.iter().enumerate().for_each(|(at, &from)| back[from] = at);
            let gathered: Shape = order.iter().map(|&from| taken[from]).collect();
            let updates = site.reshaped(updates, gathered)?;
            let updates = site.transposed(updates, back)?;
            site.emit(TakeGrad { dim, shape }, &[updates, indices])?
        }
        Along::Elements { dim, indices } => site.emit(TakeAlongAxisGrad { dim, shape }, &[updates, indices])?,
    };
    if site.constant(x).and_then(|constant| constant.splat_value()) == Some(0.0) {
        return Some(one(sums));
    }
    site.emit(Add, &[x, sums]).map(one)
}
