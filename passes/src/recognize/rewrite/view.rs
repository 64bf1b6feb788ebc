//! Values inside a match, each with the dimension of the root that each of its dimensions is.

use halite_ir::ops::{DotGeneral, Reduction};
use halite_ir::{Function, Inst, Op, Registry, Value, loses};
use halite_tensor::{DType, Dims, Shape};
use smallvec::SmallVec;

/// The most movements and conversions that are seen through, one after the other: many patterns look at each value.
const MAX_MOVES: usize = 64;

/// For each dimension of a value the dimension of the root that it is; `None` where the size is 1.
pub(crate) type DimMap = SmallVec<[Option<usize>; 4]>;

/// Stands for no dimension of the root.
const NOWHERE: usize = usize::MAX;

/// A value as it is seen from the root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct View {
    pub(crate) value: Value,
    /// Its dimensions as dimensions of the root.
    pub(crate) dim_map: DimMap,
}

/// The function in which a pattern is matched, seen from one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchCx<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) function: &'a Function,
    /// The result of the instruction.
    pub(crate) root: Value,
}

impl<'a> MatchCx<'a> {
    /// The shape of the root.
    pub(crate) fn shape(&self) -> &'a Shape {
        self.function.ty(self.root).shape()
    }

    /// The element type of the root.
    pub(crate) fn dtype(&self) -> DType {
        self.function.ty(self.root).dtype()
    }

    /// The last dimension of the root, if it has one.
    pub(crate) fn last(&self) -> Option<usize> {
        self.shape().rank().checked_sub(1)
    }

    /// A tensor of the root's shape as it lies.
    pub(crate) fn aligned(&self) -> DimMap {
        self.shape().iter().enumerate().map(|(dim, &size)| (size != 1).then_some(dim)).collect()
    }

    /// The instruction that defines a value, unless it rounds by random bits.
    pub(super) fn def(&self, value: Value) -> Option<&'a Inst> {
        self.function.def(value).filter(|inst| !inst.rounds_at_random())
    }

    fn sizes(&self, value: Value) -> &'a Shape {
        self.function.ty(value).shape()
    }

    /// The operand of an instruction that only moves or repeats elements.
    fn moved(&self, view: &View) -> Option<View> {
        let inst = self.def(view.value)?;
        let from = *inst.args.first()?;
        let shape = self.sizes(from);
        let at = |index: usize, dim: usize| if shape[index] == 1 { None } else { view.dim_map[dim] };
        let dim_map = match &inst.op {
            Op::BroadcastInDim(op) => op.dims.iter().enumerate().map(|(index, &dim)| at(index, dim)).collect(),
            Op::Transpose(op) => {
                let mut dim_map: DimMap = SmallVec::from_elem(None, shape.rank());
                for (dim, &index) in op.permutation.iter().enumerate() {
                    dim_map[index] = view.dim_map[dim];
                }
                dim_map
            }
            Op::Reshape(op) => self.unit_reshape(shape, &op.shape, &view.dim_map)?,
            _ => return None,
        };
        Some(View { value: from, dim_map })
    }

    /// The view of the operand of a reshape that adds and drops dimensions of size 1 only.
    fn unit_reshape(&self, from: &Shape, to: &Shape, dim_map: &DimMap) -> Option<DimMap> {
        let large = |shape: &Shape| -> Dims { shape.iter().copied().filter(|&size| size != 1).collect() };
        if large(from) != large(to) {
            return None;
        }
        let mut places = to.iter().zip(dim_map).filter(|(size, _)| **size != 1).map(|(_, place)| *place);
        Some(from.iter().map(|&size| if size == 1 { None } else { places.next().flatten() }).collect())
    }

    /// The operand of a conversion between floats.
    fn converted(&self, view: &View) -> Option<View> {
        let inst = self.def(view.value)?;
        let (Op::Convert(op), &[from]) = (&inst.op, inst.args.as_slice()) else { return None };
        let floats = op.dtype.is_float() && self.function.ty(from).dtype().is_float();
        floats.then(|| View { value: from, dim_map: view.dim_map.clone() })
    }

    /// The tensor whose elements a value shows: through movements and conversions that lose nothing.
    pub(super) fn base(&self, view: &View) -> View {
        let mut view = view.clone();
        for _ in 0..MAX_MOVES {
            let exact =
                |from: &View| !loses(self.function.ty(from.value).dtype(), self.function.ty(view.value).dtype());
            match self.moved(&view).or_else(|| self.converted(&view).filter(exact)) {
                Some(inner) => view = inner,
                None => break,
            }
        }
        view
    }

    /// The instruction behind movements and conversions, its result as it is seen, and whether a number was rounded on the
    /// way that the root could hold.
    pub(super) fn inner(&self, view: &View) -> Option<Inner<'a>> {
        let dtype = |value: Value| self.function.ty(value).dtype();
        let (mut view, mut rounded) = (view.clone(), None);
        for _ in 0..MAX_MOVES {
            let to = dtype(view.value);
            if let Some(from) = self.converted(&view) {
                rounded = rounded.or_else(|| (loses(dtype(from.value), to) && loses(self.dtype(), to)).then_some(to));
                view = from;
            } else if let Some(from) = self.moved(&view) {
                view = from;
            } else {
                let inst = self.def(view.value)?;
                let rounds = !is_exact(&inst.op) && loses(self.dtype(), to);
                return Some(Inner { inst, rounded: rounded.or(rounds.then_some(to)), view });
            }
        }
        None
    }

    /// The operand of a reduction over `dims` whose result is seen. Reduced dimensions are those of the root at the same
    /// place where that is free, else the first free ones of their size.
    pub(super) fn reduced(&self, operand: Value, dims: &[usize], result: &DimMap) -> View {
        let (shape, root) = (self.sizes(operand), self.shape());
        let mut kept = result.iter().copied();
        let mut dim_map: DimMap =
            (0..shape.rank()).map(|dim| if dims.contains(&dim) { None } else { kept.next().flatten() }).collect();
        for &dim in dims.iter().filter(|&&dim| shape[dim] != 1) {
            let fits = |place: usize| root.get(place) == Some(&shape[dim]) && !dim_map.contains(&Some(place));
            let place = std::iter::once(dim).chain(0..root.rank()).find(|&place| fits(place));
            dim_map[dim] = Some(place.unwrap_or(NOWHERE));
        }
        View { value: operand, dim_map }
    }

    /// The dimensions of the root that a reduction over `dims` of an operand is over; one of size 1 counts only where
    /// there is no other.
    pub(super) fn reduced_dims(&self, operand: &View, dims: &[usize]) -> Dims {
        let large: Dims = dims.iter().filter_map(|&dim| operand.dim_map[dim]).collect();
        if large.is_empty() { dims.last().copied().into_iter().collect() } else { large }
    }

    /// The operands of a product without sums, each as it is seen: `lhs[i] * rhs[j]` at `[i, j]`.
    pub(super) fn outer(&self, op: &DotGeneral, args: &[Value], result: &DimMap) -> Option<[View; 2]> {
        let &[lhs, rhs] = args else { return None };
        let summed = |(dims, value): (&Dims, Value)| dims.iter().any(|&dim| self.sizes(value)[dim] != 1);
        if summed((&op.contract.0, lhs)) {
            return None;
        }
        let mut places = result.iter().copied();
        let batch: DimMap = places.by_ref().take(op.batch.0.len()).collect();
        let mut side = |value: Value, batched: &Dims, contracted: &Dims| {
            let dim_map = (0..self.sizes(value).rank())
                .map(|dim| match batched.iter().position(|&own| own == dim) {
                    Some(index) => batch[index],
                    None if contracted.contains(&dim) => None,
                    None => places.next().flatten(),
                })
                .collect();
            View { value, dim_map }
        };
        Some([side(lhs, &op.batch.0, &op.contract.0), side(rhs, &op.batch.1, &op.contract.1)])
    }
}

/// An instruction inside a match.
pub(super) struct Inner<'a> {
    pub(super) inst: &'a Inst,
    /// Its result as it is seen.
    pub(super) view: View,
    /// The float type to which something was rounded that the root could hold.
    pub(super) rounded: Option<DType>,
}

/// Whether each element of an op's result is an element of an operand, or that with another sign; so are constants.
fn is_exact(op: &Op) -> bool {
    match op {
        Op::Reduce(reduce) => reduce.kind != Reduction::Sum,
        Op::Concatenate(_) | Op::Constant(_) | Op::Maximum(_) | Op::Minimum(_) | Op::Negate(_) | Op::Slice(_) => true,
        _ => false,
    }
}
