//! `iota`.

use super::class::{Takes, require_elements};
use super::movement::{link_result, require_countable};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::Builder;
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx, arity, require_dim};
use crate::shards::Shards;
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::{ArrayType, Id};
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Indices, Shape};
use smallvec::smallvec;

described! {
    /// The numbers 0, 1, 2, .. along dimension `dim`, repeated along the others. Integers wrap, floats round.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Iota {
        /// The dimension along which to count.
        pub dim: usize,
        /// The type of the result.
        pub ty: TensorType,
    }
}

impl Default for Iota {
    fn default() -> Self {
        Self { dim: 0, ty: TensorType::scalar(DType::S32) }
    }
}

impl OpDef for Iota {
    fn name(&self) -> &str {
        "iota"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Type(&mut self.ty));
        visitor.attr("dim", &mut self.dim);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [] = arity("iota", args)?;
        require_elements("iota", Takes::Number, &self.ty)?;
        require_dim("iota", &self.ty, self.dim)?;
        require_countable("iota", self.ty.dtype(), self.ty.shape().clone())?;
        Ok(smallvec![self.ty.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, _: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let numbers = Indices::new(self.ty.shape()).map(|index| index[self.dim] as i128);
        Ok(vec![HostTensor::from_ints(self.ty.dtype(), self.ty.shape().clone(), numbers)])
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::zeros(0))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    /// Each element depends on its own position only.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (dim, &size) in self.ty.shape().iter().enumerate() {
            link_result(&mut map, size, FactorKind::Parallel, dim);
        }
        map
    }

    /// Counts from where the rank's share begins.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, _: &[Value]) -> Result<Option<Values>> {
        let (size, digits) = (self.ty.shape()[self.dim], shards.result_digits(self.dim));
        if digits.is_empty() {
            let ty = self.ty.with_shape(shards.shape());
            return Ok(Some(b.emit_all(Iota { ty, dim: self.dim }, &[])?));
        }
        let at = b.iota(DType::S32, shards.shape(), self.dim)?;
        let at = b.whole_index(shards.mesh, (size, digits), at)?;
        Ok(Some(smallvec![b.convert(at, self.ty.dtype())?]))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, _: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.iota(ArrayType::new(self.ty.dtype(), self.ty.shape().clone()), self.dim))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |dim, dtype, shape: &[usize]| Iota { dim, ty: TensorType::new(dtype, shape) };
        vec![
            Sample::new("float", op(1, float, &[2, 5]), []),
            Sample::new("integers", op(0, DType::S32, &[4, 2]), []),
            Sample::new("unsigned", op(0, DType::U32, &[7]), []),
        ]
    }
}

impl Builder<'_> {
    /// The numbers 0, 1, 2, .. along `dim`, repeated along the others.
    ///
    /// # Errors
    /// When `dim` is out of range or `dtype` is `pred`.
    pub fn iota(&mut self, dtype: DType, shape: impl Into<Shape>, dim: usize) -> Result<Value> {
        self.emit(Iota { dim, ty: TensorType::new(dtype, shape) }, &[])
    }
}
