//! `constant`.

use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx, arity, shape_error};
use crate::shards::Shards;
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;
use std::sync::Arc;

described! {
    /// A literal tensor. `value` holds either all elements or, as a scalar, the one that fills the whole shape.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub struct Constant {
        /// All elements, or one scalar for all.
        pub value: Arc<HostTensor>,
        /// The shape of the result.
        pub shape: Shape,
    }
}

impl Default for Constant {
    fn default() -> Self {
        Self { value: Arc::new(HostTensor::scalar(DType::F32, 0.0)), shape: Shape::scalar() }
    }
}

impl Constant {
    /// A literal; equal elements are stored once.
    pub fn new(tensor: HostTensor) -> Self {
        let shape = tensor.shape().clone();
        Self { value: Arc::new(tensor.splat_value().unwrap_or(tensor)), shape }
    }

    /// One value, rounded to `dtype`, for every element of `shape`.
    pub fn splat(dtype: DType, shape: impl Into<Shape>, value: f64) -> Self {
        Self { value: Arc::new(HostTensor::scalar(dtype, value)), shape: shape.into() }
    }

    /// Whether one scalar stands for all elements.
    pub fn is_splat(&self) -> bool {
        self.value.shape().rank() == 0
    }

    /// The scalar that stands for all elements, as a real number.
    pub fn splat_value(&self) -> Option<f64> {
        self.is_splat().then(|| self.value.f64s()[0])
    }
}

impl OpDef for Constant {
    fn name(&self) -> &str {
        "constant"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Shape(&mut self.shape));
        visitor.attr("value", &mut self.value);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [] = arity("constant", args)?;
        if !self.is_splat() && self.value.shape() != &self.shape {
            let (found, expected) = (self.value.shape(), &self.shape);
            return Err(shape_error(format!("`constant` of shape {expected} is given elements of shape {found}")));
        }
        Ok(smallvec![TensorType::new(self.value.dtype(), self.shape.clone())])
    }

    fn eval(&self, _: &EvalCx<'_>, _: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        if !self.is_splat() {
            return Ok(vec![(*self.value).clone()]);
        }
        let bytes = self.value.bytes().repeat(self.shape.num_elements());
        let filled = HostTensor::from_bytes(self.value.dtype(), self.shape.clone(), bytes);
        Ok(vec![filled.expect("one element repeated for each position")])
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

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, _: &[Value]) -> Result<Option<Values>> {
        if self.is_splat() {
            return Ok(Some(b.emit_all(Constant { shape: shards.shape(), ..self.clone() }, &[])?));
        }
        let whole = b.emit(self.clone(), &[])?;
        Ok(Some(smallvec![b.keep(shards.mesh, whole, &shards.results[0])?]))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, _: &[Id]) -> Result<Ids> {
        let literal = cx.hlo.constant(&self.value)?;
        if !self.is_splat() || self.shape.rank() == 0 {
            return Ok(smallvec![literal]);
        }
        cx.one(|hlo| hlo.broadcast(literal, &self.shape, &[]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let listed = HostTensor::from_f64s(float, [2, 2], [1.0, -0.5, 0.0, 3.25]);
        let ints = HostTensor::from_ints(DType::S32, [3], [1, -2, 3]);
        vec![
            Sample::new("splat", Constant::splat(float, [2, 3], 1.5), []),
            Sample::new("listed", Constant::new(listed), []),
            Sample::new("integers", Constant::new(ints), []),
        ]
    }
}

impl Builder<'_> {
    /// A value that is known when the program is made.
    ///
    /// # Errors
    /// Never for a well-formed tensor.
    pub fn constant(&mut self, tensor: HostTensor) -> Result<Value> {
        self.emit(Constant::new(tensor), &[])
    }

    /// One value for every element of `shape`.
    ///
    /// # Errors
    /// Never.
    pub fn splat(&mut self, dtype: DType, shape: impl Into<Shape>, value: f64) -> Result<Value> {
        self.emit(Constant::splat(dtype, shape, value), &[])
    }

    /// One value for every element of the type of `like`.
    ///
    /// # Errors
    /// Never.
    pub fn splat_like(&mut self, like: Value, value: f64) -> Result<Value> {
        let ty = self.ty(like);
        self.emit(Constant::splat(ty.dtype(), ty.shape().clone(), value), &[])
    }
}
