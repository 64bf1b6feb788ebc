//! `gather`.

use super::movement::{link_result, offset, pick, require_countable};
use super::windows_at::{Windows, link_indices, no_pairs};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx, array_type};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity};
use crate::ops::{Combine, Scatter};
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{GatherDims, Id, IndexFacts};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor};
use smallvec::smallvec;

described! {
    /// Windows of a tensor, all of the same sizes, that start where vectors of the second operand, integers, say. A start is
    /// clamped so that its window lies inside. The result has the dimensions of windows, those that are not collapsed, and in
    /// between those of the indices without their vectors.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Gather {
        /// Dimensions of the result that walk inside a window, increasing.
        pub offset_dims: Dims,
        /// Dimensions of the operand of window size 1 that the result lacks, increasing.
        pub collapsed_slice_dims: Box<[usize]>,
        /// The dimension of the operand that each entry of an index vector addresses.
        pub start_index_map: Dims,
        /// The dimension of the indices that holds the vectors; their rank for vectors of one entry.
        pub index_vector_dim: usize,
        /// Dimensions of the operand, increasing, that go along with dimensions of the indices; the result lacks them.
        pub batching: (Box<[usize]>, Box<[usize]>),
        /// The window size along each dimension of the operand.
        pub slice_sizes: Box<[usize]>,
    }
}

impl Gather {
    fn windows(&self) -> Windows<'_> {
        Windows {
            walks: &self.offset_dims,
            single: &self.collapsed_slice_dims,
            map: &self.start_index_map,
            vector: self.index_vector_dim,
            batching: &self.batching,
        }
    }

    /// The dimensions as HLO has them.
    pub fn hlo_dims(&self) -> GatherDims {
        GatherDims {
            offset_dims: self.offset_dims.clone(),
            collapsed_slice_dims: self.collapsed_slice_dims[..].into(),
            start_index_map: self.start_index_map.clone(),
            index_vector_dim: self.index_vector_dim,
            operand_batching_dims: self.batching.0[..].into(),
            indices_batching_dims: self.batching.1[..].into(),
        }
    }

    /// The gather of these dimensions and window sizes.
    pub fn of(dims: GatherDims, slice_sizes: Dims) -> Self {
        Self {
            offset_dims: dims.offset_dims,
            collapsed_slice_dims: dims.collapsed_slice_dims[..].into(),
            start_index_map: dims.start_index_map,
            index_vector_dim: dims.index_vector_dim,
            batching: (dims.operand_batching_dims[..].into(), dims.indices_batching_dims[..].into()),
            slice_sizes: slice_sizes[..].into(),
        }
    }

    /// The last start along the dimension of each entry of an index vector, on an operand of this type.
    pub fn limits(&self, x: &TensorType) -> Dims {
        self.windows().limits(x.shape(), &self.slice_sizes)
    }
}

impl OpDef for Gather {
    fn name(&self) -> &str {
        "gather"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("offset_dims", &mut self.offset_dims);
        visitor.attr("collapsed_slice_dims", &mut self.collapsed_slice_dims);
        visitor.attr("start_index_map", &mut self.start_index_map);
        visitor.attr("index_vector_dim", &mut self.index_vector_dim);
        visitor.refinement("batching", &mut self.batching, &no_pairs());
        visitor.attr("slice_sizes", &mut self.slice_sizes);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, indices] = arity("gather", args)?;
        let result =
            halite_hlo::infer::gather(&array_type(x), &array_type(indices), &self.hlo_dims(), &self.slice_sizes)?;
        Ok(smallvec![require_countable("gather", x.dtype(), result.shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, indices) = (args[0], args[1].ints());
        let (shape, strides, windows) = (x.shape(), x.shape().strides(), self.windows());
        let source = |index: &[usize]| {
            let (first, inside) = windows.place(shape.rank(), (args[1].shape(), &indices), index);
            let last = shape.iter().zip(&self.slice_sizes).map(|(whole, size)| (whole - size) as i128);
            let first = first.iter().zip(last).map(|(first, last)| (*first).clamp(0, last) as usize);
            let at: Dims = first.zip(&inside).map(|(first, inside)| first + inside).collect();
            offset(&at, &strides)
        };
        Ok(vec![pick(x, cx.result().shape(), source)])
    }

    /// Adds the cotangents of windows into zeros at the starts, clamped.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, x) = (present(cx.ct())?, b.ty(cx.args[0]).clone());
        let starts = self.windows().clamped(b, cx.args[1], &self.limits(&x))?;
        let zeros = b.splat(b.dtype(ct), x.shape().clone(), 0.0)?;
        let sums = Scatter {
            kind: Combine::Sum,
            update_window_dims: self.offset_dims.clone(),
            inserted_window_dims: self.collapsed_slice_dims.clone(),
            scatter_dims_to_operand_dims: self.start_index_map.clone(),
            index_vector_dim: self.index_vector_dim,
            batching: self.batching.clone(),
            unique_indices: false,
        };
        Ok(Vjp::of([Some(b.emit(sums, &[zeros, starts, ct])?), None]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    /// Only what is taken is read.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, &[&results[0], args[1]], results)
    }

    /// Dimensions that windows have whole correspond, and so do those of the indices. Along others a window may be anywhere.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let (windows, shape) = (self.windows(), args[0].shape());
        let kept = windows.kept(shape.rank());
        for (dim, &size) in shape.iter().enumerate() {
            match kept.iter().position(|&kept| kept == dim) {
                Some(at) if self.slice_sizes[dim] == size => {
                    map.link(size, FactorKind::Parallel, &[(0, dim)], Some(self.offset_dims[at]));
                }
                Some(at) => {
                    map.link(size, FactorKind::Mixed, &[(0, dim)], None);
                    link_result(&mut map, self.slice_sizes[dim], FactorKind::Mixed, self.offset_dims[at]);
                }
                None if self.batching.0.contains(&dim) => {}
                None => map.link(size, FactorKind::Mixed, &[(0, dim)], None),
            }
        }
        link_indices(&mut map, &windows, args[1], &[], results[0].rank());
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::First
    }

    /// Windows that are whole along a sharded dimension are as large as the shard.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let (whole, local) = (shards.args[0].shape(), b.shape(args[0]).clone());
        let mut op = self.clone();
        for (dim, size) in op.slice_sizes.iter_mut().enumerate() {
            if *size == whole[dim] {
                *size = local[dim];
            }
        }
        Ok(Some(b.emit_all(op, args)?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let shape = cx.hlo.array(args[0])?.shape.clone();
        let windows = self.windows();
        let indices = windows.clamp(&mut cx.hlo, args[1], &windows.limits(&shape, &self.slice_sizes))?;
        cx.one(|hlo| hlo.gather(args[0], indices, &self.hlo_dims(), &self.slice_sizes, IndexFacts::default()))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |offset: &[usize], collapsed: &[usize], map: &[usize], vector, sizes: &[usize]| Gather {
            offset_dims: offset.into(),
            collapsed_slice_dims: collapsed.into(),
            start_index_map: map.into(),
            index_vector_dim: vector,
            batching: Default::default(),
            slice_sizes: sizes.into(),
        };
        let batched = Gather { batching: ([1].into(), [0].into()), ..op(&[0, 2], &[], &[2, 0], 1, &[2, 1, 3]) };
        let x = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let at = |shape: &[usize], low, high| SampleArg::whole(DType::S32, shape, low, high);
        let ints = SampleArg::whole(DType::S32, [4, 3], -9, 9);
        let wide = SampleArg::whole(DType::S64, [2, 1], 0, 3);
        vec![
            Sample::new("windows", op(&[1, 2], &[], &[0, 1], 1, &[2, 3]), [x(&[5, 6]), at(&[3, 2], 0, 3)]),
            Sample::new("elements", op(&[], &[0, 1], &[1, 0], 0, &[1, 1]), [x(&[4, 4]), at(&[2, 5], 0, 3)]),
            Sample::new("clamped", op(&[0], &[0], &[0, 1], 1, &[1, 2]), [x(&[3, 4]), at(&[6, 2], -5, 7)]),
            Sample::new("one entry", op(&[1], &[1], &[1], 1, &[4, 1]), [x(&[4, 6]), at(&[2], 0, 5)]),
            Sample::new("batched", batched, [x(&[4, 2, 6]), at(&[2, 2], -1, 4)]),
            Sample::new("integers", op(&[1], &[0], &[0], 1, &[1, 3]), [ints, wide]),
        ]
    }
}
