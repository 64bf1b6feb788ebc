//! `take`.

use super::indices::{
    UNKNOWN, clamp_indices, clamped, convert, held, one_hot, require_indices, reshape, zero_elsewhere,
};
use super::movement::{offset, pick, require_countable};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, Indexing, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity};
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{DotDims, GatherDims, Id};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// Slices of a tensor at positions along dimension `dim` that the second operand, `s32` of any shape, names. The result
    /// has the dimensions of the indices in place of `dim`. Indices out of range are clamped.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Take {
        /// The dimension that the indices address.
        pub dim: usize,
    }
}

/// The shape of `take` from `x` along `dim`: `x[..dim] ++ indices ++ x[dim + 1..]`.
pub(super) fn taken_shape(x: &[usize], dim: usize, indices: &[usize]) -> Shape {
    x[..dim].iter().chain(indices).chain(&x[dim + 1..]).copied().collect()
}

/// The offset in `x` of the element that stands at `index` of what was taken.
pub(super) fn source(x: &Shape, dim: usize, indices: (&Shape, &[usize]), index: &[usize]) -> usize {
    let (strides, rank) = (x.strides(), indices.0.rank());
    let (before, rest) = index.split_at(dim);
    let (at, after) = rest.split_at(rank);
    let position = indices.1[offset(at, &indices.0.strides())];
    offset(before, &strides) + position * strides[dim] + offset(after, &strides[dim + 1..])
}

impl OpDef for Take {
    fn name(&self) -> &str {
        "take"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, indices] = arity("take", args)?;
        require_indices("take", x, self.dim, indices)?;
        let shape = taken_shape(x.shape(), self.dim, indices.shape());
        Ok(smallvec![require_countable("take", x.dtype(), shape)?])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, indices) = (args[0], args[1]);
        let positions = clamped(indices, x.shape()[self.dim]);
        let from = |index: &[usize]| source(x.shape(), self.dim, (indices.shape(), &positions), index);
        Ok(vec![pick(x, cx.result().shape(), from)])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, shape) = (present(cx.ct())?, b.shape(cx.args[0]).clone());
        let x = b.take_grad(ct, cx.args[1], self.dim, shape)?;
        Ok(Vjp::of([Some(x), None]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    /// Only what is taken is read.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, &[&results[0], args[1]], results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let rank = args[1].rank();
        for (dim, &size) in args[0].shape().iter().enumerate() {
            match dim {
                _ if dim < self.dim => map.link(size, FactorKind::Parallel, &[(0, dim)], Some(dim)),
                _ if dim == self.dim => map.link(size, FactorKind::Indexed, &[(0, dim)], None),
                _ => map.link(size, FactorKind::Parallel, &[(0, dim)], Some(dim - 1 + rank)),
            }
        }
        for (dim, &size) in args[1].shape().iter().enumerate() {
            map.link(size, FactorKind::Parallel, &[(1, dim)], Some(self.dim + dim));
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::First
    }

    /// Zero where another rank holds what an index names.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let digits = &shards.operands[0].0[self.dim];
        if digits.is_empty() {
            return Ok(None);
        }
        let (at, held) = held(b, shards.mesh, (shards.args[0].shape()[self.dim], digits), args[1])?;
        let taken = b.take(args[0], at, self.dim)?;
        Ok(Some(smallvec![zero_elsewhere(b, held, taken, self.dim)?]))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let size = cx.hlo.array(args[0])?.shape[self.dim];
        let indices = clamp_indices(&mut cx.hlo, args[1], size)?;
        match cx.options.reads {
            Indexing::Native => self.lower_gather(cx, args[0], indices),
            Indexing::OneHot => self.lower_one_hot(cx, args[0], indices),
        }
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let at = |shape: &[usize], low, high| SampleArg::whole(DType::S32, shape, low, high);
        let x = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let ints = SampleArg::whole(DType::S32, [5], -9, 9);
        vec![
            Sample::new("rows", Take { dim: 0 }, [x(&[5, 3]), at(&[2, 4], 0, 4)]),
            Sample::new("columns", Take { dim: 1 }, [x(&[2, 5, 3]), at(&[4], 0, 4)]),
            Sample::new("one", Take { dim: 1 }, [x(&[2, 5]), at(&[], 0, 4)]),
            Sample::new("clamped", Take { dim: 0 }, [x(&[3, 2]), at(&[6], -9, 9)]),
            Sample::new("integers", Take { dim: 0 }, [ints, at(&[2, 2], 0, 4)]),
        ]
    }
}

impl Take {
    fn lower_gather(&self, cx: &mut LowerCx<'_>, x: Id, indices: Id) -> Result<Ids> {
        let mut sizes = cx.hlo.array(x)?.shape.clone();
        let rank = cx.hlo.array(indices)?.shape.rank();
        sizes[self.dim] = 1;
        let after = self.dim + rank..sizes.rank() - 1 + rank;
        let dims = GatherDims {
            offset_dims: (0..self.dim).chain(after).collect(),
            collapsed_slice_dims: smallvec![self.dim],
            start_index_map: smallvec![self.dim],
            index_vector_dim: rank,
            ..GatherDims::default()
        };
        cx.one(|hlo| hlo.gather(x, indices, &dims, &sizes, UNKNOWN))
    }

    /// The product with a one-hot matrix of one row for each index. Exact for finite elements; an infinity or NaN in `x`
    /// reaches every result that shares its free position.
    fn lower_one_hot(&self, cx: &mut LowerCx<'_>, x: Id, indices: Id) -> Result<Ids> {
        let hlo = &mut cx.hlo;
        let (ty, shape) = (hlo.array(x)?.clone(), hlo.array(indices)?.shape.clone());
        let number = if ty.dtype == DType::Pred { DType::S32 } else { ty.dtype };
        let count = shape.num_elements();
        let indices = reshape(hlo, indices, &[count].into())?;
        let hot = one_hot(hlo, indices, &[count, ty.shape[self.dim]].into(), 1)?;
        let (hot, x) = (convert(hlo, hot, number)?, convert(hlo, x, number)?);
        let dims =
            DotDims { lhs_contracting: smallvec![self.dim], rhs_contracting: smallvec![1], ..DotDims::default() };
        let mut taken = hlo.dot(x, hot, &dims, number)?;
        let last = ty.shape.rank() - 1;
        let order: Dims = (0..self.dim).chain([last]).chain(self.dim..last).collect();
        if !order.is_sorted() {
            taken = hlo.transpose(taken, &order)?;
        }
        let taken = reshape(hlo, taken, &taken_shape(&ty.shape, self.dim, &shape))?;
        cx.one(|hlo| convert(hlo, taken, ty.dtype))
    }
}

impl Builder<'_> {
    /// Slices of `x` at the positions along `dim` that `indices` name, clamped.
    ///
    /// # Errors
    /// When `dim` is out of range or empty, or the indices are not `s32`.
    pub fn take(&mut self, x: Value, indices: Value, dim: usize) -> Result<Value> {
        self.emit(Take { dim }, &[x, indices])
    }
}
