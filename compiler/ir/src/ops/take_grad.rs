//! `take_grad`.

use super::class::{Takes, require_elements};
use super::indices::{
    clamp_indices, clamped, convert, held, one_hot, require_indices, require_shape, reshape, scatter_add,
    scatter_into_zeros, wide, zero_elsewhere,
};
use super::movement::require_countable;
use super::take::{source, taken_shape};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, Indexing, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity};
use crate::reduction::Reduction;
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{DotDims, Id, ScatterDims};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// The gradient of [`Take`](super::Take): adds slices, the first operand, at the positions along dimension `dim` that
    /// the second operand names into a tensor of zeros. Indices out of range are clamped; each sum is rounded once.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct TakeGrad {
        /// The dimension that the indices address.
        pub dim: usize,
        /// The shape of the result.
        pub shape: Shape,
    }
}

impl Default for TakeGrad {
    fn default() -> Self {
        Self { dim: 0, shape: [1].into() }
    }
}

impl OpDef for TakeGrad {
    fn name(&self) -> &str {
        "take_grad"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Shape(&mut self.shape));
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [ct, indices] = arity("take_grad", args)?;
        require_elements("take_grad", Takes::Number, ct)?;
        let result = require_countable("take_grad", ct.dtype(), self.shape.clone())?;
        require_indices("take_grad", &result, self.dim, indices)?;
        require_shape("take_grad", &taken_shape(&self.shape, self.dim, indices.shape()), ct)?;
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
        let slices = b.take(ct, cx.args[1], self.dim)?;
        Ok(Vjp::of([Some(slices), None]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::GRADIENT_SUM
    }

    /// One addition for each element of the slices.
    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::over_operand(args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        let rank = args[1].rank();
        for (dim, &size) in self.shape.iter().enumerate() {
            match dim {
                _ if dim < self.dim => map.link(size, FactorKind::Parallel, &[(0, dim)], Some(dim)),
                _ if dim == self.dim => map.link(size, FactorKind::Indexed, &[], Some(dim)),
                _ => map.link(size, FactorKind::Parallel, &[(0, dim - 1 + rank)], Some(dim)),
            }
        }
        for (dim, &size) in args[1].shape().iter().enumerate() {
            map.link(size, FactorKind::Contracted(Some(Reduction::Sum)), &[(0, self.dim + dim), (1, dim)], None);
        }
        map
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::First
    }

    /// Adds up what falls into this rank's share.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let local = TakeGrad { shape: shards.shape(), ..self.clone() };
        let digits = shards.result_digits(self.dim);
        if digits.is_empty() {
            return Ok(Some(b.emit_all(local, args)?));
        }
        let (at, held) = held(b, shards.mesh, (self.shape[self.dim], digits), args[1])?;
        let ct = zero_elsewhere(b, held, args[0], self.dim)?;
        Ok(Some(b.emit_all(local, &[ct, at])?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let dtype = cx.hlo.array(args[0])?.dtype;
        let indices = clamp_indices(&mut cx.hlo, args[1], self.shape[self.dim])?;
        let sums = match cx.options.sums {
            Indexing::Native => self.lower_scatter(cx, args[0], indices)?,
            Indexing::OneHot => self.lower_one_hot(cx, args[0], indices)?,
        };
        cx.one(|hlo| convert(hlo, sums, dtype))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dim, shape: &[usize]| TakeGrad { dim, shape: shape.into() };
        let at = |shape: &[usize], low, high| SampleArg::whole(DType::S32, shape, low, high);
        let ct = |shape: &[usize]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let ints = SampleArg::whole(DType::S32, [2, 4], -9, 9);
        vec![
            Sample::new("rows", op(0, &[5, 3]), [ct(&[2, 4, 3]), at(&[2, 4], 0, 4)]).ulps(8.0),
            Sample::new("columns", op(1, &[2, 5, 3]), [ct(&[2, 4, 3]), at(&[4], 0, 4)]).ulps(8.0),
            Sample::new("one", op(1, &[2, 5]), [ct(&[2]), at(&[], 0, 4)]).ulps(8.0),
            Sample::new("clamped", op(0, &[3, 2]), [ct(&[6, 2]), at(&[6], -9, 9)]).ulps(8.0),
            Sample::new("integers", op(0, &[3]), [ints, at(&[2, 4], 0, 2)]),
        ]
    }
}

impl TakeGrad {
    fn lower_scatter(&self, cx: &mut LowerCx<'_>, ct: Id, indices: Id) -> Result<Id> {
        let hlo = &mut cx.hlo;
        let (number, rank) = (wide(hlo.array(ct)?.dtype), hlo.array(indices)?.shape.rank());
        let ct = convert(hlo, ct, number)?;
        let after = self.dim + rank..self.shape.rank() - 1 + rank;
        let dims = ScatterDims {
            update_window_dims: (0..self.dim).chain(after).collect(),
            inserted_window_dims: smallvec![self.dim],
            scatter_dims_to_operand_dims: smallvec![self.dim],
            index_vector_dim: rank,
            ..ScatterDims::default()
        };
        scatter_into_zeros(hlo, (ct, indices), &self.shape, &dims)
    }

    /// The product with a one-hot matrix of one row for each index.
    fn lower_one_hot(&self, cx: &mut LowerCx<'_>, ct: Id, indices: Id) -> Result<Id> {
        let hlo = &mut cx.hlo;
        let (dtype, count) = (hlo.array(ct)?.dtype, hlo.array(indices)?.shape.num_elements());
        let indices = reshape(hlo, indices, &[count].into())?;
        let ct = reshape(hlo, ct, &taken_shape(&self.shape, self.dim, &[count]))?;
        let hot = one_hot(hlo, indices, &[count, self.shape[self.dim]].into(), 1)?;
        let hot = convert(hlo, hot, dtype)?;
        let dims =
            DotDims { lhs_contracting: smallvec![self.dim], rhs_contracting: smallvec![0], ..DotDims::default() };
        let product = hlo.dot(ct, hot, &dims, wide(dtype))?;
        let last = self.shape.rank() - 1;
        let order: Dims = (0..self.dim).chain([last]).chain(self.dim..last).collect();
        if order.is_sorted() { Ok(product) } else { hlo.transpose(product, &order) }
    }
}

impl Builder<'_> {
    /// Adds the slices `ct` at the positions along `dim` that `indices` name, clamped, into zeros of shape `shape`.
    ///
    /// # Errors
    /// When `ct` has not the shape of what [`take`](Self::take) takes from `shape`.
    pub fn take_grad(&mut self, ct: Value, indices: Value, dim: usize, shape: impl Into<Shape>) -> Result<Value> {
        self.emit(TakeGrad { dim, shape: shape.into() }, &[ct, indices])
    }
}
