//! `dynamic_slice`.

use super::movement::{offset, pick, same_rank_dims};
use super::starts::{clamp_starts, first_offset, require_inside, require_starts};
use crate::attr::{AttrVisitor, ResultSlot};
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::shards::{Linear, Shards};
use crate::syntax::{Value, Values};
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor, Shape};
use smallvec::smallvec;

described! {
    /// The part of a tensor, of a static shape, that starts at positions known only at run time: one `s32` scalar operand
    /// for each dimension. A start is clamped so that the part lies inside.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct DynamicSlice {
        /// The shape of the result.
        pub shape: Shape,
    }
}

impl OpDef for DynamicSlice {
    fn name(&self) -> &str {
        "dynamic_slice"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.result(0, ResultSlot::Shape(&mut self.shape));
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let x = require_starts("dynamic_slice", 1, args)?;
        require_inside("dynamic_slice", x, &self.shape)?;
        Ok(smallvec![x.with_shape(self.shape.clone())])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, strides) = (args[0], args[0].shape().strides());
        let first = first_offset(x.shape(), &self.shape, &args[1..]);
        Ok(vec![pick(x, &self.shape, |index| first + offset(index, &strides))])
    }

    /// Writes the cotangent into zeros.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, starts) = (present(cx.ct())?, &cx.args[1..]);
        let zeros = b.splat_like(cx.args[0], 0.0)?;
        let x = b.dynamic_update_slice(zeros, ct, starts)?;
        Ok(Vjp::of(std::iter::once(Some(x)).chain(starts.iter().map(|_| None))))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    /// Only what is taken is read.
    fn cost(&self, _: &InferCx<'_>, _: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, &[&results[0]], results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        same_rank_dims(args, results, |dim| args[0].shape()[dim] != self.shape[dim])
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::First
    }

    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        Ok(Some(b.emit_all(DynamicSlice { shape: shards.shape() }, args)?))
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let whole = cx.hlo.array(args[0])?.shape.clone();
        let starts = clamp_starts(&mut cx.hlo, &whole, &self.shape, &args[1..])?;
        cx.one(|hlo| hlo.dynamic_slice(args[0], &starts, &self.shape))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = || DynamicSlice { shape: [2, 3].into() };
        let at = |low, high| SampleArg::whole(DType::S32, [], low, high);
        let x = || SampleArg::uniform(float, [4, 5], -1.0, 1.0);
        let ints = SampleArg::whole(DType::S32, [4, 5], -9, 9);
        vec![
            Sample::new("inside", op(), [x(), at(0, 2), at(0, 2)]),
            Sample::new("clamped", op(), [x(), at(-7, -1), at(3, 99)]),
            Sample::new("integers", op(), [ints, at(0, 2), at(0, 2)]),
        ]
    }
}

impl Builder<'_> {
    /// The part of `x` of shape `shape` at `starts`, one `s32` scalar for each dimension, clamped so that it fits.
    ///
    /// # Errors
    /// When `shape` does not fit in `x` or a start is of another type.
    pub fn dynamic_slice(&mut self, x: Value, starts: &[Value], shape: impl Into<Shape>) -> Result<Value> {
        let args: Vec<_> = std::iter::once(x).chain(starts.iter().copied()).collect();
        self.emit(DynamicSlice { shape: shape.into() }, &args)
    }
}
