//! What a model declares: batches, parameters, outputs, configuration; and tensors made of nothing.

use super::argument::not_finite;
use super::{Argument, Call, Caller, Init, ModelBuilder, Tensor};
use crate::ops::{Declared, Named, Part, Place, Sizes, Weight, mask_role, normal};
use halite_ir::{ParamRole, TensorType, Value as Id};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};
use std::panic::Location;

impl ModelBuilder<'_> {
    /// Data of one step, fed by the host, of this element type and shape. Where weights are `f64`, `f32` means that too.
    ///
    /// A mistake: a batch after a parameter or inside of a [`function`](Self::function), a size below 1, a name that is
    /// [taken](Self::param) or is none.
    #[track_caller]
    pub fn batch<'b>(&'b self, name: &str, dtype: DType, shape: impl Into<Argument<'b>>) -> Tensor<'b> {
        self.input(name, dtype, shape.into(), |_| Ok(ParamRole::Batch), Location::caller())
    }

    /// A batch that is declared to be the causal mask, `pred[.., size, size]`: the host feeds that and nothing else, and
    /// the compiler counts on it. Leading dimensions repeat the mask.
    ///
    /// A mistake: a shape whose last two sizes differ, and what is one for a [`batch`](Self::batch).
    #[track_caller]
    pub fn causal_mask<'b>(&'b self, name: &str, shape: impl Into<Argument<'b>>) -> Tensor<'b> {
        let role = |ty: &TensorType| mask_role(name, ty, Place::whole(&()));
        self.input(name, DType::Pred, shape.into(), role, Location::caller())
    }

    fn input<'b>(
        &'b self,
        name: &str,
        dtype: DType,
        shape: Argument<'b>,
        role: impl FnOnce(&TensorType) -> Result<ParamRole>,
        caller: Caller,
    ) -> Tensor<'b> {
        let help = "declare batches before functions";
        if !self.state.borrow_mut().check_entry(&format!("batch {name}"), help, caller) {
            return Tensor::poisoned(self);
        }
        let weight = self.state.borrow().frame.weights.first().map(|declared| declared.weight.name.clone());
        if let Some(weight) = weight {
            let message = format!("batch `{name}` is declared after parameter `{weight}`");
            self.report(Diagnostic::error(codes::CONTRACT, message).help("declare batches first"), caller);
        }
        let is_new = self.state.borrow_mut().claim(name, &name.into(), Named::Batch, caller);
        let shape = self.shape(shape, caller).filter(|_| is_new);
        let value = shape.and_then(|shape| {
            let ty = TensorType::new(self.stated(dtype), shape);
            self.run(caller, |ops| Ok(ops.b.param(name, ty.clone(), role(&ty)?)))
        });
        if let Some(value) = value {
            self.state.borrow_mut().batches.insert(name.into(), value);
        }
        Tensor::maybe(self, value)
    }

    /// A parameter: its name, which the scopes around it prefix, its sizes, and how it starts. It has the element type of
    /// weights.
    ///
    /// A mistake: a size below 1, a standard deviation that is negative or not finite, and a name that is taken. Batches,
    /// parameters, by their full names, and outputs have different names; `loss`, `grad_norm`, `learning_rate`, `count` and
    /// `step` are the training step's own, and where there is a parameter `w`, the optimizer has `m.w`, `v.w` and
    /// `master.w`.
    #[track_caller]
    pub fn param<'b>(&'b self, name: &str, shape: impl Into<Argument<'b>>, init: Init) -> Tensor<'b> {
        let caller = Location::caller();
        let full = self.state.borrow().full_name(name);
        let is_new = self.state.borrow_mut().claim(name, &full, Named::Weight, caller);
        let shape = self.sized(shape.into(), caller);
        let init = self.check_init(init, caller);
        let declared = shape.zip(init).filter(|_| is_new);
        let declare = |((shape, sizes), init)| {
            let ty = TensorType::new(self.float, shape);
            self.declare(Weight { name: name.into(), ty, sizes, init }, caller)
        };
        Tensor::maybe(self, declared.and_then(declare))
    }

    /// Declares a weight below the scopes of the function being written.
    pub(super) fn declare(&self, weight: Weight, at: Caller) -> Option<Id> {
        let (name, is_entry) = {
            let state = self.state.borrow();
            (state.own_name(&weight.name), state.is_entry())
        };
        let weight = Weight { name, ..weight };
        let value = self.run(at, |ops| Ok(ops.weight(&weight, is_entry)))?;
        self.state.borrow_mut().frame.weights.push(Declared { weight, at, value });
        Some(value)
    }

    fn check_init(&self, init: Init, caller: Caller) -> Option<Init> {
        let error = |message: String, help| Diagnostic::error(codes::KIND, message).help(help);
        let error = match init {
            Init::Normal { std } if normal(std).is_none() => {
                let message = format!("expected a standard deviation, found the real number `{std:?}`");
                error(message, "write a standard deviation here")
            }
            Init::Constant(value) if !value.is_finite() => {
                error(format!("expected a number to start from, found `{value:?}`"), "write a finite number here")
            }
            Init::Weight => {
                let message = "a weight starts as a weight, which only state can".to_owned();
                error(message, "give it a start of its own, e.g. `Init::Zeros`")
            }
            Init::Zeros | Init::Ones | Init::Constant(_) | Init::Normal { .. } => return Some(init),
        };
        self.report(error, caller);
        None
    }

    /// Shows a tensor of any type under a name: it becomes a result of the module `forward`.
    ///
    /// A mistake: a name that is [taken](Self::param) or is none, and one inside of a [`function`](Self::function).
    #[track_caller]
    pub fn output(&self, name: &str, value: Tensor<'_>) {
        let caller = Location::caller();
        let mut state = self.state.borrow_mut();
        let is_main = state.check_entry(&format!("output {name}"), "return it to `main` instead", caller);
        let is_new = is_main && state.claim(name, &name.into(), Named::Output, caller);
        drop(state);
        if is_new {
            let value = self.tensor(value, caller);
            self.state.borrow_mut().outputs.insert(name.into(), value);
        }
    }

    /// Notes a setting of the model, which the manifest of a bundle then tells. Where a recipe states the setting too, as
    /// it does `batch` and `seq`, the two must agree.
    ///
    /// A mistake: a key that is set already or is no name, a number that is not finite, and one inside of a
    /// [`function`](Self::function).
    #[track_caller]
    pub fn setting(&self, key: &str, value: impl Into<ConfigValue>) {
        let (value, caller) = (value.into(), Location::caller());
        let mut state = self.state.borrow_mut();
        state.check_entry(&format!("setting {key}"), "set it before the function", caller);
        state.check_name(key, caller);
        if let ConfigValue::Real(real) = value
            && !real.is_finite()
        {
            state.report(not_finite(real).help("set a finite number"), caller);
        }
        if state.config.insert(key.to_owned(), value).is_some() {
            let error = Diagnostic::error(codes::DUPLICATE, format!("`{key}` is defined twice"));
            state.report(error, caller);
        }
    }

    /// A tensor of this shape with the same number everywhere, in the element type of weights. Of another element type:
    /// `m.call("full", [Argument::from([2, 3]), 1.into()]).attr("type", DType::S32)`.
    ///
    /// A mistake: a size below 1, a number that is not finite.
    #[track_caller]
    pub fn full<'b>(&'b self, shape: impl Into<Argument<'b>>, value: impl Into<Argument<'b>>) -> Tensor<'b> {
        Call::new(self, "full", vec![shape.into(), value.into()], Location::caller()).one()
    }

    /// A scalar, of shape `[]`, in the element type of weights. A number that is not finite is a mistake.
    #[track_caller]
    pub fn scalar<'b>(&'b self, value: impl Into<Argument<'b>>) -> Tensor<'b> {
        Call::new(self, "full", vec![Vec::<i64>::new().into(), value.into()], Location::caller()).one()
    }

    /// The positions along a dimension, from 0, as `s32` of this shape. Of another element type:
    /// `m.call("iota", [shape]).attr("dim", 0).attr("type", DType::F32)`. The dimension counts from the end when negative.
    ///
    /// A mistake: a size below 1, a dimension that is not there.
    #[track_caller]
    pub fn iota<'b>(&'b self, shape: impl Into<Argument<'b>>, dim: i64) -> Tensor<'b> {
        Call::new(self, "iota", vec![shape.into(), dim.into()], Location::caller()).one()
    }

    /// Tensors one after the other along a dimension, counted from the end when negative: its size is the sum of theirs.
    ///
    /// A mistake: no tensor at all, scalars, a dimension that is not there, tensors of different element types, or of shapes
    /// that differ in another dimension.
    #[track_caller]
    pub fn concat<'b>(&'b self, parts: &[Tensor<'b>], dim: i64) -> Tensor<'b> {
        Call::new(self, "concat", vec![parts.into(), dim.into()], Location::caller()).one()
    }

    /// Where `condition` holds the element of `x`, elsewhere that of `y`, whose type the result has. One of the two may be a
    /// number; of two tensors that of lower rank is repeated along the leading dimensions of the other.
    ///
    /// A mistake: a condition that is not `pred`, or neither a scalar nor of the shape of the result; `x` and `y` of
    /// different element types, or of shapes that do not align; two numbers.
    #[track_caller]
    pub fn select<'b>(
        &'b self,
        condition: Tensor<'b>,
        x: impl Into<Argument<'b>>,
        y: impl Into<Argument<'b>>,
    ) -> Tensor<'b> {
        Call::new(self, "where", vec![condition.into(), x.into(), y.into()], Location::caller()).one()
    }

    fn shape(&self, shape: Argument<'_>, caller: Caller) -> Option<Shape> {
        self.sized(shape, caller).map(|(shape, _)| shape)
    }

    /// The same with what its sizes are products of.
    fn sized(&self, shape: Argument<'_>, caller: Caller) -> Option<(Shape, Sizes)> {
        self.operate(caller, [shape], |ops, [shape]| {
            Ok((ops.shape_of(&shape, Place::new(&(), Part::Given(0)))?, shape.sizes()))
        })
    }
}
