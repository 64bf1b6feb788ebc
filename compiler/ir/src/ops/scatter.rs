//! `scatter`.

use super::class::{Takes, require_elements};
use super::indices::{convert, wide};
use super::movement::{link_result, offset};
use super::windows_at::{Windows, link_indices, no_pairs};
use crate::attr::{AttrSlot, AttrVisitor, word_attr};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx, array_type};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity};
use crate::ops::{Direction, Gather};
use crate::reduction::Reduction;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, IndexFacts, ReduceKind, ScatterDims};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Indices, Shape};
use smallvec::smallvec;

word_attr! {
    /// How an update combines with the element at its position.
    Combine, "`replace`, `sum`, `product`, `max`, `min`, `and` or `or`" {
        /// The update; of several for one element that of the last index vector.
        #[default]
        Replace = "replace",
        /// Sum. Integers wrap.
        Sum = "sum",
        /// Product. Integers wrap.
        Product = "product",
        /// The larger one, NaN if there is one.
        Max = "max",
        /// The smaller one, NaN if there is one.
        Min = "min",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
    }
}

impl Combine {
    /// The same in HLO, which has no name for the update.
    pub fn hlo(self) -> Option<ReduceKind> {
        self.reduction().map(Reduction::hlo)
    }

    /// The reduction that combines in the same way.
    fn reduction(self) -> Option<Reduction> {
        match self {
            Combine::Replace => None,
            Combine::Sum => Some(Reduction::Sum),
            Combine::Product => Some(Reduction::Product),
            Combine::Max => Some(Reduction::Max),
            Combine::Min => Some(Reduction::Min),
            Combine::And => Some(Reduction::And),
            Combine::Or => Some(Reduction::Or),
        }
    }

    fn takes(self) -> Option<Takes> {
        match self {
            Combine::Replace => None,
            Combine::Sum | Combine::Product | Combine::Max | Combine::Min => Some(Takes::Number),
            Combine::And | Combine::Or => Some(Takes::Logic),
        }
    }

    fn real(self, x: f64, update: f64) -> f64 {
        match self.reduction() {
            Some(reduction) => reduction.combine_f64(x, update),
            None => update,
        }
    }

    fn whole(self, x: i128, update: i128) -> i128 {
        match self.reduction() {
            Some(reduction) => reduction.combine_int(x, update),
            None => update,
        }
    }
}

described! {
    /// A tensor with updates, the third operand, combined in at windows that start where vectors of the second operand,
    /// integers, say. The updates have the dimensions of windows, and in between those of the indices without their vectors. A
    /// window that does not lie inside is left out. Sums and products of floats are rounded once.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Scatter {
        /// How an update combines with the element at its position.
        pub kind: Combine,
        /// Dimensions of the updates that walk inside a window, increasing.
        pub update_window_dims: Dims,
        /// Dimensions of the operand of window size 1 that the updates lack, increasing.
        pub inserted_window_dims: Box<[usize]>,
        /// The dimension of the operand that each entry of an index vector addresses.
        pub scatter_dims_to_operand_dims: Dims,
        /// The dimension of the indices that holds the vectors; their rank for vectors of one entry.
        pub index_vector_dim: usize,
        /// Dimensions of the operand, increasing, that go along with dimensions of the indices; the updates lack them.
        pub batching: (Box<[usize]>, Box<[usize]>),
        /// Whether no two updates are for one element, which is a promise.
        pub unique_indices: bool,
    }
}

impl Scatter {
    fn windows(&self) -> Windows<'_> {
        Windows {
            walks: &self.update_window_dims,
            single: &self.inserted_window_dims,
            map: &self.scatter_dims_to_operand_dims,
            vector: self.index_vector_dim,
            batching: &self.batching,
        }
    }

    /// The dimensions as HLO has them.
    pub fn hlo_dims(&self) -> ScatterDims {
        ScatterDims {
            update_window_dims: self.update_window_dims.clone(),
            inserted_window_dims: self.inserted_window_dims[..].into(),
            scatter_dims_to_operand_dims: self.scatter_dims_to_operand_dims.clone(),
            index_vector_dim: self.index_vector_dim,
            operand_batching_dims: self.batching.0[..].into(),
            indices_batching_dims: self.batching.1[..].into(),
        }
    }

    /// The scatter of these dimensions.
    pub fn of(kind: Combine, dims: ScatterDims, unique_indices: bool) -> Self {
        Self {
            kind,
            update_window_dims: dims.update_window_dims,
            inserted_window_dims: dims.inserted_window_dims[..].into(),
            scatter_dims_to_operand_dims: dims.scatter_dims_to_operand_dims,
            index_vector_dim: dims.index_vector_dim,
            batching: (dims.operand_batching_dims[..].into(), dims.indices_batching_dims[..].into()),
            unique_indices,
        }
    }

    /// The offsets of each update and of its element in the operand, by index vectors; those whose windows lie inside.
    fn targets(&self, x: &HostTensor, indices: &HostTensor, updates: &HostTensor) -> Vec<(usize, usize)> {
        let (shape, strides, windows) = (x.shape(), x.shape().strides(), self.windows());
        let sizes = windows.sizes(shape.rank(), updates.shape());
        let positions = indices.ints();
        let order: Dims =
            windows.outer(updates.shape().rank()).into_iter().chain(self.update_window_dims.clone()).collect();
        let ordered: Shape = order.iter().map(|&dim| updates.shape()[dim]).collect();
        let target = |at: Dims| {
            let mut index = at.clone();
            order.iter().zip(&at).for_each(|(&dim, &at)| index[dim] = at);
            let (first, inside) = windows.place(shape.rank(), (indices.shape(), &positions), &index);
            let fits = |dim: usize| (0..=(shape[dim] - sizes[dim]) as i128).contains(&first[dim]);
            let at = || first.iter().zip(&inside).map(|(&first, inside)| first as usize + inside).collect::<Dims>();
            let own = offset(&index, &updates.shape().strides());
            (0..shape.rank()).all(fits).then(|| (own, offset(&at(), &strides)))
        };
        Indices::new(&ordered).filter_map(target).collect()
    }

    /// The element at the position of each update in `x`, and zero where its window does not lie inside.
    fn taken(&self, b: &mut Builder<'_>, x: Value, cx: &VjpCx<'_>) -> Result<Value> {
        let (windows, shape, updates) = (self.windows(), b.shape(x).clone(), b.shape(cx.args[2]).clone());
        let slice_sizes = windows.sizes(shape.rank(), &updates);
        let limits = windows.limits(&shape, &slice_sizes);
        let gather = Gather {
            offset_dims: self.update_window_dims.clone(),
            collapsed_slice_dims: self.inserted_window_dims[..].into(),
            start_index_map: self.scatter_dims_to_operand_dims.clone(),
            index_vector_dim: self.index_vector_dim,
            batching: self.batching.clone(),
            slice_sizes: slice_sizes[..].into(),
        };
        let taken = b.emit(gather, &[x, cx.args[1]])?;
        let inside = windows.is_inside(b, cx.args[1], &limits, &updates)?;
        let zeros = b.splat_like(taken, 0.0)?;
        b.select(inside, taken, zeros)
    }

    /// The cotangents of a scatter that replaces. Where several updates may be for one element, the last one is found by its number.
    fn replaced_vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>, ct: Value) -> Result<Vjp> {
        let (indices, updates) = (cx.args[1], cx.args[2]);
        let zeros = b.splat_like(updates, 0.0)?;
        let x = cx.want(0, || b.emit(self.clone(), &[ct, indices, zeros]))?;
        if !cx.wanted[2] {
            return Ok(Vjp::of([x, None, None]));
        }
        let mut taken = self.taken(b, ct, cx)?;
        if !self.unique_indices {
            let shape = b.shape(updates).clone();
            let count = b.iota(DType::S32, [shape.num_elements()], 0)?;
            let numbers = b.reshape(count, shape)?;
            let none = b.splat(DType::S32, b.shape(ct).clone(), 0.0)?;
            let written = b.emit(self.clone(), &[none, indices, numbers])?;
            let last = self.taken(b, written, cx)?;
            let is_last = b.compare(last, numbers, Direction::Eq)?;
            taken = b.select(is_last, taken, zeros)?;
        }
        Ok(Vjp::of([x, None, Some(taken)]))
    }

    /// The cotangents of a scatter of extremes: what is as large as the extreme shares its cotangent, the element in equal parts with the
    /// updates for it.
    fn extreme_vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>, ct: Value) -> Result<Vjp> {
        let (x, indices, updates, result) = (cx.args[0], cx.args[1], cx.args[2], cx.results[0]);
        let (ones, zeros) = (b.splat_like(x, 1.0)?, b.splat_like(x, 0.0)?);
        let [own, none] = [b.splat_like(updates, 1.0)?, b.splat_like(updates, 0.0)?];
        let [same, is_nan] = [(result, Direction::Eq), (x, Direction::Ne)].map(|(other, way)| b.compare(x, other, way));
        let stays = b.or(same?, is_nan?)?;
        let stays = b.select(stays, ones, zeros)?;
        let extreme = self.taken(b, result, cx)?;
        let wins = b.compare(updates, extreme, Direction::Eq)?;
        let winners = b.select(wins, own, none)?;
        let sum = Scatter { kind: Combine::Sum, ..self.clone() };
        let count = b.emit(sum, &[stays, indices, winners])?;
        // No update equals an extreme that is NaN.
        let counted = b.maximum(count, ones)?;
        let share = b.divide(ct, counted)?;
        let dx = cx.want(0, || b.multiply(share, stays))?;
        let updates = cx.want(2, || {
            let taken = self.taken(b, share, cx)?;
            b.select(wins, taken, none)
        })?;
        Ok(Vjp::of([dx, None, updates]))
    }

    /// The cotangents of a scatter that multiplies no element twice.
    fn product_vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>, ct: Value) -> Result<Vjp> {
        let x = cx.want(0, || b.emit(self.clone(), &[ct, cx.args[1], cx.args[2]]))?;
        if !cx.wanted[2] {
            return Ok(Vjp::of([x, None, None]));
        }
        let products = b.multiply(ct, cx.args[0])?;
        Ok(Vjp::of([x, None, Some(self.taken(b, products, cx)?)]))
    }
}

impl OpDef for Scatter {
    fn name(&self) -> &str {
        "scatter"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("kind", &mut self.kind);
        visitor.attr("update_window_dims", &mut self.update_window_dims);
        visitor.attr("inserted_window_dims", &mut self.inserted_window_dims);
        visitor.attr("scatter_dims_to_operand_dims", &mut self.scatter_dims_to_operand_dims);
        visitor.attr("index_vector_dim", &mut self.index_vector_dim);
        visitor.refinement("batching", &mut self.batching, &no_pairs());
        visitor.refinement("unique_indices", &mut self.unique_indices, &false.get());
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, indices, updates] = arity("scatter", args)?;
        if let Some(takes) = self.kind.takes() {
            require_elements("scatter", takes, x)?;
        }
        let [of_x, of_indices, of_updates] = [x, indices, updates].map(array_type);
        halite_hlo::infer::scatter(&of_x, &of_indices, &of_updates, &self.hlo_dims())?;
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, updates) = (args[0], args[2]);
        let targets = self.targets(x, args[1], updates).into_iter();
        let (dtype, shape) = (x.dtype(), x.shape().clone());
        Ok(vec![if dtype.is_float() {
            let (mut elements, updates) = (x.f64s(), updates.f64s());
            targets.for_each(|(own, at)| elements[at] = self.kind.real(elements[at], updates[own]));
            HostTensor::from_f64s(dtype, shape, elements)
        } else {
            let (mut elements, updates) = (x.ints(), updates.ints());
            targets.for_each(|(own, at)| elements[at] = self.kind.whole(elements[at], updates[own]));
            HostTensor::from_ints(dtype, shape, elements)
        }])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        match self.kind {
            Combine::Sum => {
                let updates = cx.want(2, || self.taken(b, ct, cx))?;
                Ok(Vjp::of([Some(ct), None, updates]))
            }
            Combine::Replace => self.replaced_vjp(b, cx, ct),
            Combine::Product if self.unique_indices => self.product_vjp(b, cx, ct),
            Combine::Product => Ok(Vjp::none("products of several updates for one element have no rule")),
            Combine::Max | Combine::Min => self.extreme_vjp(b, cx, ct),
            Combine::And | Combine::Or => Ok(Vjp::none("bits have no derivative")),
        }
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        match self.kind {
            Combine::Sum => Policy::GRADIENT_SUM,
            Combine::Product => Policy::ELEMENTWISE,
            Combine::Replace => Policy::STORAGE,
            Combine::Max | Combine::Min => Policy::EXACT,
            Combine::And | Combine::Or => Policy::INTEGER,
        }
    }

    /// One operation for each update that combines.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        let combines = self.kind != Combine::Replace && args[2].dtype().is_float();
        Cost::new(if combines { args[2].shape().num_elements() as u64 } else { 0 }, args, results)
    }

    /// Dimensions that windows have whole correspond, and so do those that go along with indices.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let (windows, shape, updates) = (self.windows(), args[0].shape(), args[2].shape());
        let kept = windows.kept(shape.rank());
        for (dim, &size) in shape.iter().enumerate() {
            let walk = kept.iter().position(|&kept| kept == dim).map(|at| self.update_window_dims[at]);
            match walk {
                Some(walk) if updates[walk] == size => {
                    map.link(size, FactorKind::Parallel, &[(0, dim), (2, walk)], Some(dim));
                }
                None if self.batching.0.contains(&dim) => {}
                _ => {
                    map.link(size, FactorKind::Mixed, &[(0, dim)], None);
                    link_result(&mut map, size, FactorKind::Mixed, dim);
                    if let Some(walk) = walk {
                        map.link(updates[walk], FactorKind::Mixed, &[(2, walk)], None);
                    }
                }
            }
        }
        link_indices(&mut map, &windows, args[1], &[2], updates.rank());
        map
    }

    /// Sums and products of narrow floats are made in `f32`.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let dtype = cx.hlo.array(args[0])?.dtype;
        let number = if matches!(self.kind, Combine::Sum | Combine::Product) { wide(dtype) } else { dtype };
        let (x, updates) = (convert(&mut cx.hlo, args[0], number)?, convert(&mut cx.hlo, args[2], number)?);
        let facts = IndexFacts { sorted: false, unique: self.unique_indices };
        let combined = cx.hlo.scatter(self.kind.hlo(), x, args[1], updates, &self.hlo_dims(), facts)?;
        cx.one(|hlo| convert(hlo, combined, dtype))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |kind, walks: &[usize], inserted: &[usize], map: &[usize], vector| Scatter {
            kind,
            update_window_dims: walks.into(),
            inserted_window_dims: inserted.into(),
            scatter_dims_to_operand_dims: map.into(),
            index_vector_dim: vector,
            ..Scatter::default()
        };
        let x = |shape: &[usize]| SampleArg::uniform(float, shape, 0.5, 2.0);
        let ints = |shape: &[usize]| SampleArg::whole(DType::S32, shape, -9, 9);
        let at = |shape: &[usize], low, high| SampleArg::whole(DType::S32, shape, low, high);
        let apart = |values: &[f64]| SampleArg::listed(DType::S32, [2, 2], values);
        let elements = |kind| (op(kind, &[], &[0, 1], &[1, 0], 1), [x(&[4, 4]), at(&[6, 2], -1, 4), x(&[6])]);
        let windows = |kind| op(kind, &[1, 2], &[], &[0, 1], 1);
        let batched = |kind| Scatter { batching: ([1].into(), [0].into()), ..op(kind, &[0, 2], &[], &[2, 0], 1) };
        let unique = |op| Scatter { unique_indices: true, ..op };
        let [sum, replace, max, min] = [Combine::Sum, Combine::Replace, Combine::Max, Combine::Min].map(elements);
        let in_windows = || [x(&[5, 6]), at(&[3, 2], -1, 4), x(&[3, 2, 3])];
        let bits = |kind| (op(kind, &[1], &[0], &[0], 1), [ints(&[4, 3]), at(&[5], 0, 4), ints(&[5, 3])]);
        let [and, or, whole, product] = [Combine::And, Combine::Or, Combine::Sum, Combine::Product].map(bits);
        vec![
            Sample::new("sum", sum.0, sum.1).ulps(8.0),
            Sample::new("replace", replace.0, replace.1),
            Sample::new("max", max.0, max.1),
            Sample::new("min", min.0, min.1),
            Sample::new("windows", windows(Combine::Sum), in_windows()).ulps(8.0),
            Sample::new("replaced windows", windows(Combine::Replace), in_windows()),
            Sample::new("batched", batched(Combine::Sum), [x(&[4, 2, 6]), at(&[2, 2], -1, 4), x(&[2, 2, 3])]).ulps(8.0),
            Sample::new(
                "unique",
                unique(windows(Combine::Replace)),
                [x(&[5, 6]), apart(&[0.0, 3.0, 3.0, 2.0]), x(&[2, 2, 3])],
            ),
            Sample::new(
                "product",
                unique(windows(Combine::Product)),
                [x(&[5, 6]), apart(&[0.0, 3.0, 4.0, 2.0]), x(&[2, 2, 3])],
            )
            .ulps(8.0),
            Sample::new("products", windows(Combine::Product), in_windows()).ulps(16.0),
            Sample::new(
                "whole rows",
                op(Combine::Sum, &[1], &[0], &[0], 1),
                [x(&[4, 6]), at(&[3, 1], 0, 3), x(&[3, 6])],
            )
            .ulps(8.0),
            Sample::new("and", and.0, and.1),
            Sample::new("or", or.0, or.1),
            Sample::new("integers", whole.0, whole.1),
            Sample::new("integer product", product.0, product.1),
        ]
    }
}
