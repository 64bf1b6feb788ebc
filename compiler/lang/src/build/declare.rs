//! Declarations of a model: batches, parameters, outputs, configuration; and tensors without operands.

use super::{Argument, Call, Init, ModelBuilder, Tensor};
use halite_recipe::ConfigValue;
use halite_tensor::DType;
use std::panic::Location;

impl ModelBuilder {
    /// Data of one step, fed by the host, of this element type and shape. Where weights are `f64`, `f32` means that too.
    ///
    /// A mistake: a batch after a parameter or inside of a [`function`](Self::function), a size below 1, a name that is
    /// [taken](Self::param) or is none.
    #[track_caller]
    pub fn batch<'b>(&'b self, name: &str, dtype: DType, shape: impl Into<Argument>) -> Tensor<'b> {
        let batch = self.core.borrow_mut().batch(name, dtype, shape.into(), &Location::caller().into());
        Tensor::new(self, batch)
    }

    /// A batch that is declared to be the causal mask, `pred[.., size, size]`: the host feeds that and nothing else, and
    /// the compiler counts on it. Leading dimensions repeat the mask.
    ///
    /// A mistake: a shape whose last two sizes differ, and what is one for a [`batch`](Self::batch).
    #[track_caller]
    pub fn causal_mask<'b>(&'b self, name: &str, shape: impl Into<Argument>) -> Tensor<'b> {
        let mask = self.core.borrow_mut().causal_mask(name, shape.into(), &Location::caller().into());
        Tensor::new(self, mask)
    }

    /// A parameter: its name, which the scopes around it prefix, its sizes, and how it starts. It has the element type of
    /// weights.
    ///
    /// A mistake: a size below 1, a standard deviation that is negative or not finite, and a name that is taken. Batches,
    /// parameters, by their full names, and outputs have different names; `loss`, `grad_norm`, `learning_rate`, `count` and
    /// `step` are the training step's own, and where there is a parameter `w`, the optimizer has `m.w`, `v.w` and
    /// `master.w`.
    #[track_caller]
    pub fn param<'b>(&'b self, name: &str, shape: impl Into<Argument>, init: Init) -> Tensor<'b> {
        let param = self.core.borrow_mut().param(name, shape.into(), init, &Location::caller().into());
        Tensor::new(self, param)
    }

    /// State that the model reads as a [parameter](Self::param) and that no update changes. Checkpoints have it.
    ///
    /// A mistake: as of a parameter.
    #[track_caller]
    pub fn buffer<'b>(&'b self, name: &str, shape: impl Into<Argument>, init: Init) -> Tensor<'b> {
        let buffer = self.core.borrow_mut().buffer(name, shape.into(), init, &Location::caller().into());
        Tensor::new(self, buffer)
    }

    /// Shows a tensor of any type under a name: it becomes a result of the module `forward`.
    ///
    /// A mistake: a name that is [taken](Self::param) or is none, and one inside of a [`function`](Self::function).
    #[track_caller]
    pub fn output(&self, name: &str, value: Tensor<'_>) {
        self.core.borrow_mut().output(name, value.handle(), &Location::caller().into());
    }

    /// Reports a sum over the batch by a name, divided by another sum where `over` is one: `m.metric("accuracy", hits, count)`.
    /// Both are scalars. Micro-batches and ranks are added up before the division; where nothing is counted, the metric is 0.
    ///
    /// A mistake: what is no scalar of numbers, a name that is [taken](Self::param) or is none, and one inside of a
    /// [`function`](Self::function).
    #[track_caller]
    pub fn metric(&self, name: &str, sum: impl Into<Argument>, over: impl Into<Option<Argument>>) {
        self.core.borrow_mut().metric(name, sum.into(), over.into(), &Location::caller().into());
    }

    /// Adds `weight` times a mean over the batch, a scalar, to the loss, and reports that mean by a name:
    /// `m.loss("balance", unevenness, 0.02)`. The mean over micro-batches weighs each by the count of the loss.
    ///
    /// A mistake: as of a [metric](Self::metric), and a weight that is not finite.
    #[track_caller]
    pub fn loss(&self, name: &str, value: impl Into<Argument>, weight: f64) {
        self.core.borrow_mut().loss(name, value.into(), weight, &Location::caller().into());
    }

    /// Notes a setting of the model, which the manifest of a bundle then tells. Where a recipe states the setting too, as
    /// it does `batch` and `seq`, the two must agree.
    ///
    /// A mistake: a key that is set already or is no name, a number that is not finite, and one inside of a
    /// [`function`](Self::function).
    #[track_caller]
    pub fn setting(&self, key: &str, value: impl Into<ConfigValue>) {
        self.core.borrow_mut().setting(key, value.into(), &Location::caller().into());
    }

    /// A tensor of this shape with the same number everywhere, in the element type of weights. Of another element type:
    /// `m.call("full", [Argument::from([2, 3]), 1.into()]).named("type", DType::S32)`.
    ///
    /// A mistake: a size below 1, a number that is not finite.
    #[track_caller]
    pub fn full<'b>(&'b self, shape: impl Into<Argument>, value: impl Into<Argument>) -> Tensor<'b> {
        Call::new(self, "full", vec![shape.into(), value.into()], Location::caller().into()).one()
    }

    /// A scalar, of shape `[]`, in the element type of weights. A number that is not finite is a mistake.
    #[track_caller]
    pub fn scalar<'b>(&'b self, value: impl Into<Argument>) -> Tensor<'b> {
        Call::new(self, "full", vec![Vec::<i64>::new().into(), value.into()], Location::caller().into()).one()
    }

    /// The positions along a dimension, from 0, as `s32` of this shape. Of another element type:
    /// `m.call("iota", [shape]).named("dim", 0).named("type", DType::F32)`. The dimension counts from the end when negative.
    ///
    /// A mistake: a size below 1, a dimension that is not there.
    #[track_caller]
    pub fn iota<'b>(&'b self, shape: impl Into<Argument>, dim: i64) -> Tensor<'b> {
        Call::new(self, "iota", vec![shape.into(), dim.into()], Location::caller().into()).one()
    }

    /// Tensors one after the other along a dimension, counted from the end when negative: its size is the sum of theirs.
    ///
    /// A mistake: no tensor at all, scalars, a dimension that is not there, tensors of different element types, or of shapes
    /// that differ in another dimension.
    #[track_caller]
    pub fn concat<'b>(&'b self, parts: &[Tensor<'b>], dim: i64) -> Tensor<'b> {
        Call::new(self, "concat", vec![parts.into(), dim.into()], Location::caller().into()).one()
    }

    /// Where `condition` holds the element of `x`, elsewhere that of `y`, whose type the result has. One of the two may be a
    /// number; two tensors are repeated to one shape, as by operators.
    ///
    /// A mistake: a condition that is not `pred`, or neither a scalar nor of the shape of the result; `x` and `y` of
    /// different element types, or of shapes that do not align; two numbers.
    #[track_caller]
    pub fn select<'b>(&'b self, condition: Tensor<'b>, x: impl Into<Argument>, y: impl Into<Argument>) -> Tensor<'b> {
        Call::new(self, "where", vec![condition.into(), x.into(), y.into()], Location::caller().into()).one()
    }
}
