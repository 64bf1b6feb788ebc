//! `take_along_axis`.

use super::indices::{
    UNKNOWN, clamp_indices, clamped, held, masked_sum, one_hot, require_indices, require_shape, zero_elsewhere,
};
use super::movement::{offset, pick};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, Indexing, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, shape_error};
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{GatherDims, Id};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// One element of a tensor for each element of the indices, the second operand: at the same place but for dimension
    /// `dim`, where the index says. The indices are `s32` and agree with the tensor in all other dimensions; those out of
    /// range are clamped.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct TakeAlongAxis {
        /// The dimension that the indices address.
        pub dim: usize,
    }
}

/// Checks the indices of this op and its gradient against the tensor they address.
///
/// # Errors
/// Naming both types.
pub(super) fn require_along(op: &str, x: &TensorType, dim: usize, indices: &TensorType) -> Result<()> {
    require_indices(op, x, dim, indices)?;
    if indices.rank() != x.rank() {
        let rank = x.rank();
        return Err(shape_error(format!("`{op}` from `{x}` needs indices of rank {rank}, found `{indices}`")));
    }
    let mut expected = x.shape().clone();
    expected[dim] = indices.shape()[dim];
    require_shape(op, &expected, indices)
}

/// The offset in a tensor of shape `x` of the element that the index at `index` names.
pub(super) fn source(x: &Shape, dim: usize, indices: (&Shape, &[usize]), index: &[usize]) -> usize {
    let mut from = Dims::from_slice(index);
    from[dim] = indices.1[offset(index, &indices.0.strides())];
    offset(&from, &x.strides())
}

/// The shape of `indices` with the positions of `x` along `dim` as a new dimension after it, and where the dimensions of
/// either go there.
pub(super) fn spread(indices: &Shape, dim: usize, size: usize) -> (Shape, Dims, Dims) {
    let mut shape = indices.clone().into_dims();
    shape.insert(dim + 1, size);
    let skip = |skipped: usize| (0..=indices.rank()).filter(move |&at| at != skipped).collect();
    (shape.into(), skip(dim), skip(dim + 1))
}

impl OpDef for TakeAlongAxis {
    fn name(&self) -> &str {
        "take_along_axis"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, indices] = arity("take_along_axis", args)?;
        require_along("take_along_axis", x, self.dim, indices)?;
        Ok(smallvec![x.with_shape(indices.shape().clone())])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, indices) = (args[0], args[1]);
        let positions = clamped(indices, x.shape()[self.dim]);
        let from = |index: &[usize]| source(x.shape(), self.dim, (indices.shape(), &positions), index);
        Ok(vec![pick(x, indices.shape(), from)])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let size = b.shape(cx.args[0])[self.dim];
        let x = b.take_along_axis_grad(ct, cx.args[1], self.dim, size)?;
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
        for (dim, &size) in args[1].shape().iter().enumerate() {
            if dim == self.dim {
                map.link(args[0].shape()[dim], FactorKind::Indexed, &[(0, dim)], None);
                map.link(size, FactorKind::Parallel, &[(1, dim)], Some(dim));
            } else {
                map.link(size, FactorKind::Parallel, &[(0, dim), (1, dim)], Some(dim));
            }
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
        let taken = b.emit(self.clone(), &[args[0], at])?;
        Ok(Some(smallvec![zero_elsewhere(b, held, taken, 0)?]))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let size = cx.hlo.array(args[0])?.shape[self.dim];
        let indices = clamp_indices(&mut cx.hlo, args[1], size)?;
        match cx.options.reads {
            Indexing::Native => self.lower_gather(cx, args[0], indices),
            Indexing::OneHot => self.lower_one_hot(cx, args[0], indices, size),
        }
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let at = |shape: [usize; 2], low, high| SampleArg::whole(DType::S32, shape, low, high);
        let x = || SampleArg::uniform(float, [3, 5], -1.0, 1.0);
        let ints = SampleArg::whole(DType::S32, [3, 5], -9, 9);
        vec![
            Sample::new("one of each", TakeAlongAxis { dim: 1 }, [x(), at([3, 1], 0, 4)]),
            Sample::new("many", TakeAlongAxis { dim: 1 }, [x(), at([3, 7], 0, 4)]),
            Sample::new("first", TakeAlongAxis { dim: 0 }, [x(), at([2, 5], 0, 2)]),
            Sample::new("clamped", TakeAlongAxis { dim: 1 }, [x(), at([3, 2], -9, 9)]),
            Sample::new("integers", TakeAlongAxis { dim: 1 }, [ints, at([3, 2], 0, 4)]),
        ]
    }
}

impl TakeAlongAxis {
    fn lower_gather(&self, cx: &mut LowerCx<'_>, x: Id, indices: Id) -> Result<Ids> {
        let rank = cx.hlo.array(x)?.shape.rank();
        let others: Dims = (0..rank).filter(|&dim| dim != self.dim).collect();
        let dims = GatherDims {
            offset_dims: Dims::new(),
            collapsed_slice_dims: smallvec![self.dim],
            start_index_map: smallvec![self.dim],
            index_vector_dim: rank,
            operand_batching_dims: others.clone(),
            indices_batching_dims: others,
        };
        cx.one(|hlo| hlo.gather(x, indices, &dims, &vec![1; rank], UNKNOWN))
    }

    fn lower_one_hot(&self, cx: &mut LowerCx<'_>, x: Id, indices: Id, size: usize) -> Result<Ids> {
        let (shape, from_x, _) = spread(&cx.hlo.array(indices)?.shape, self.dim, size);
        let hot = one_hot(&mut cx.hlo, indices, &shape, self.dim + 1)?;
        cx.one(|hlo| masked_sum(hlo, hot, x, (&from_x, self.dim + 1)))
    }
}

impl Builder<'_> {
    /// One element of `x` for each of `indices`: at the same place but for `dim`, where the index says, clamped.
    ///
    /// # Errors
    /// When the other dimensions differ or the indices are not `s32`.
    pub fn take_along_axis(&mut self, x: Value, indices: Value, dim: usize) -> Result<Value> {
        self.emit(TakeAlongAxis { dim }, &[x, indices])
    }
}
