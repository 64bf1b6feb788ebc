//! `take_along_axis_grad`.

use super::class::{Takes, require_elements};
use super::indices::{
    clamp_indices, clamped, convert, held, masked_sum, one_hot, require_shape, scatter_add, scatter_into_zeros, wide,
    zero_elsewhere,
};
use super::movement::require_countable;
use super::take_along_axis::{require_along, source, spread};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, Indexing, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, require_dim};
use crate::reduction::Reduction;
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{Id, ScatterDims};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// The gradient of [`TakeAlongAxis`](super::TakeAlongAxis): adds each element of the first operand into a tensor of
    /// zeros, at the same place but for dimension `dim`, where the second operand says. Indices out of range are clamped;
    /// each sum is rounded once.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct TakeAlongAxisGrad {
        /// The dimension that the indices address.
        pub dim: usize,
        /// The shape of the result.
        pub shape: Shape,
    }
}

impl Default for TakeAlongAxisGrad {
    fn default() -> Self {
        Self { dim: 0, shape: [1].into() }
    }
}

impl OpDef for TakeAlongAxisGrad {
    fn name(&self) -> &str {
        "take_along_axis_grad"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Shape(&mut self.shape));
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [ct, indices] = arity("take_along_axis_grad", args)?;
        require_elements("take_along_axis_grad", Takes::Number, ct)?;
        let result = require_countable("take_along_axis_grad", ct.dtype(), self.shape.clone())?;
        require_along("take_along_axis_grad", &result, self.dim, indices)?;
        require_shape("take_along_axis_grad", indices.shape(), ct)?;
        Ok(smallvec![result])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (ct, indices) = (args[0], args[1]);
        let positions = clamped(indices, self.shape[self.dim]);
        let target = |index: &[usize]| source(&self.shape, self.dim, (indices.shape(), &positions), index);
        Ok(vec![scatter_add(ct, cx.result(), target)])
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let taken = b.take_along_axis(ct, cx.args[1], self.dim)?;
        Ok(Vjp::of([Some(taken), None]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::GRADIENT_SUM
    }

    /// One addition for each element of the first operand.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::over_operand(args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (dim, &size) in self.shape.iter().enumerate() {
            if dim == self.dim {
                map.link(
                    args[1].shape()[dim],
                    FactorKind::Contracted(Some(Reduction::Sum)),
                    &[(0, dim), (1, dim)],
                    None,
                );
                map.link(size, FactorKind::Indexed, &[], Some(dim));
            } else {
                map.link(size, FactorKind::Parallel, &[(0, dim), (1, dim)], Some(dim));
            }
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::First
    }

    /// Adds up what falls into this rank's share.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let local = TakeAlongAxisGrad { shape: shards.shape(), ..self.clone() };
        let digits = shards.result_digits(self.dim);
        if digits.is_empty() {
            return Ok(Some(b.emit_all(local, args)?));
        }
        let (at, held) = held(b, shards.mesh, (self.shape[self.dim], digits), args[1])?;
        let ct = zero_elsewhere(b, held, args[0], 0)?;
        Ok(Some(b.emit_all(local, &[ct, at])?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let (dtype, size) = (cx.hlo.array(args[0])?.dtype, self.shape[self.dim]);
        let indices = clamp_indices(&mut cx.hlo, args[1], size)?;
        let ct = convert(&mut cx.hlo, args[0], wide(dtype))?;
        let sums = match cx.options.sums {
            Indexing::Native => self.lower_scatter(cx, ct, indices)?,
            Indexing::OneHot => self.lower_one_hot(cx, ct, indices)?,
        };
        cx.one(|hlo| convert(hlo, sums, dtype))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dim| TakeAlongAxisGrad { dim, shape: [3, 5].into() };
        let at = |shape: [usize; 2], low, high| SampleArg::whole(DType::S32, shape, low, high);
        let ct = |shape: [usize; 2]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let ints = SampleArg::whole(DType::S32, [3, 7], -9, 9);
        vec![
            Sample::new("one of each", op(1), [ct([3, 1]), at([3, 1], 0, 4)]),
            Sample::new("many", op(1), [ct([3, 7]), at([3, 7], 0, 4)]).ulps(8.0),
            Sample::new("first", op(0), [ct([2, 5]), at([2, 5], 0, 2)]).ulps(8.0),
            Sample::new("clamped", op(1), [ct([3, 2]), at([3, 2], -9, 9)]).ulps(8.0),
            Sample::new("integers", op(1), [ints, at([3, 7], 0, 4)]),
        ]
    }
}

impl TakeAlongAxisGrad {
    fn lower_scatter(&self, cx: &mut LowerCx<'_>, ct: Id, indices: Id) -> Result<Id> {
        let rank = self.shape.rank();
        let others: Dims = (0..rank).filter(|&dim| dim != self.dim).collect();
        let dims = ScatterDims {
            update_window_dims: Dims::new(),
            inserted_window_dims: smallvec![self.dim],
            scatter_dims_to_operand_dims: smallvec![self.dim],
            index_vector_dim: rank,
            operand_batching_dims: others.clone(),
            indices_batching_dims: others,
        };
        scatter_into_zeros(&mut cx.hlo, (ct, indices), &self.shape, &dims)
    }

    fn lower_one_hot(&self, cx: &mut LowerCx<'_>, ct: Id, indices: Id) -> Result<Id> {
        let shape = &cx.hlo.array(indices)?.shape;
        let (shape, _, from_ct) = spread(shape, self.dim, self.shape[self.dim]);
        let hot = one_hot(&mut cx.hlo, indices, &shape, self.dim + 1)?;
        masked_sum(&mut cx.hlo, hot, ct, (&from_ct, self.dim))
    }
}

impl Builder<'_> {
    /// Adds each element of `ct` into zeros that have its shape but for `size` positions along `dim`, where the index at
    /// its place says, clamped.
    ///
    /// # Errors
    /// When `ct` and `indices` differ in shape or the indices are not `s32`.
    pub fn take_along_axis_grad(&mut self, ct: Value, indices: Value, dim: usize, size: usize) -> Result<Value> {
        require_dim("take_along_axis_grad", self.ty(ct), dim)?;
        let mut shape = self.shape(ct).clone();
        shape[dim] = size;
        self.emit(TakeAlongAxisGrad { dim, shape }, &[ct, indices])
    }
}
