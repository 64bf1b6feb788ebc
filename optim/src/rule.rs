//! Update rules.

use halite_ir::{Builder, Value, Values};
use halite_recipe::{Rule, Section};
use halite_support::Result;
use halite_tensor::{DType, Shape};
use std::fmt;

/// A kind of state, as [`StateSpec`](halite_tensor::StateSpec) names it.
pub type Kind = &'static str;

/// An update rule: computes the update of a weight from its gradient. A table `[optimizer.<name>]` of a recipe chooses one.
/// [`UpdateRules`](super::rules::UpdateRules) has those of a session.
pub trait UpdateRule: fmt::Debug + Send + Sync {
    /// Its name, the settings of its own, and what is wrong with these.
    fn section(&self) -> &'static Section;

    /// Whether the update of each element depends on the weight, gradient and state of that element alone. One that does not
    /// is given each weight of the model by itself, also where several are stored as one.
    fn is_elementwise(&self) -> bool {
        true
    }

    /// Whether an update depends on which dimension of a matrix is its output: models store `[out, in]`, as `linear` has it, or `[in,
    /// out]`, for `x @ w`. [`Weight::output`] is the one that the products of the model show; without a product, it is the first.
    fn asks_for_output(&self) -> bool {
        false
    }

    /// Whether it updates weights of this shape.
    ///
    /// # Errors
    /// Why it does not, such as "it has 1 dimension, expected 2".
    fn fits(&self, _shape: &Shape) -> std::result::Result<(), String> {
        Ok(())
    }

    /// The rule with its settings.
    ///
    /// # Errors
    /// When they are no settings of it.
    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>>;
}

/// An update rule with its settings.
pub trait BoundRule: fmt::Debug {
    /// The kinds of state that it keeps for each weight. Each is of the shape of the weight and zero at first.
    fn kinds(&self) -> &[Kind];

    /// The decay rate of a kind that is a moving average or a decaying sum, with its name in formulas.
    fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)>;

    /// Whether `rate * decay * weight` is subtracted beside [`Step::minus`]. One that says no uses [`Weight::decay`] itself.
    fn decouples_decay(&self) -> bool {
        true
    }

    /// Scalars that all weights share in one update.
    ///
    /// # Errors
    /// Those of the builder, which are bugs.
    fn shared(&self, _b: &mut Builder<'_>, _terms: &Terms) -> Result<Values> {
        Ok(Values::new())
    }

    /// One update of a weight.
    ///
    /// # Errors
    /// As [`shared`](Self::shared).
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step>;

    /// The same update in plain `f64`, decay included, which tests compare with `step`. `rate` is the learning rate and `time` the
    /// number of the update, from 1.
    fn reference(&self, weight: &mut RefWeight, rate: f64, time: f64, decay: f64);
}

/// The inputs of every rule besides its settings.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The type of arithmetic on tensors.
    pub dtype: DType,
    /// The learning rate, a scalar.
    pub rate: Value,
    /// Multiplies gradients, a scalar: mean and clip.
    pub factor: Value,
    /// The number of the update.
    pub time: Time,
}

/// A weight, or several end to end, as a rule sees it.
#[derive(Clone, Debug)]
pub struct Weight {
    /// The weight, or its wider copy, in the type in which it is stored.
    pub value: Value,
    /// By the sum over the batch, in the type of arithmetic.
    pub gradient: Value,
    /// Its weight decay.
    pub decay: f64,
    /// The dimension that products with it keep, where the rule [asks](UpdateRule::asks_for_output).
    pub output: usize,
    /// The state of the rule, kind by kind, in the types in which it is stored.
    pub state: Values,
}

/// The result of a rule for a weight.
#[derive(Clone, Debug)]
pub struct Step {
    /// The value subtracted from the weight, in the type of arithmetic.
    pub minus: Value,
    /// The new state of the rule, kind by kind, in the type of arithmetic.
    pub state: Values,
}

/// The number of the update being made.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// `t + 1`, `s32[]`.
    pub next: Value,
    /// The same as a float.
    pub real: Value,
}

/// A weight in the reference model of a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RefWeight {
    /// Its elements, row-major.
    pub value: Vec<f64>,
    /// Its gradient by the mean, clipped.
    pub gradient: Vec<f64>,
    /// The state of the rule, kind by kind.
    pub state: Vec<Vec<f64>>,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// As [`Weight::output`].
    pub output: usize,
}

impl Time {
    /// After `step` completed updates, as a float of the type of `like`.
    ///
    /// # Errors
    /// When `step` is no whole number.
    pub fn emit(b: &mut Builder<'_>, step: Value, like: Value) -> Result<Self> {
        let next = b.add_scalar(step, 1.0)?;
        Ok(Self { next, real: b.convert(next, b.dtype(like))? })
    }
}

/// A scalar value of the graph as a tensor of the type of `like`.
///
/// # Errors
/// When `scalar` is none.
pub fn spread(b: &mut Builder<'_>, scalar: Value, like: Value) -> Result<Value> {
    let scalar = b.convert(scalar, b.dtype(like))?;
    let shape = b.shape(like).clone();
    b.broadcast_in_dim(scalar, &[], shape)
}

/// A tensor times a scalar value of the graph.
///
/// # Errors
/// When `scalar` is none.
pub fn scaled(b: &mut Builder<'_>, x: Value, scalar: Value) -> Result<Value> {
    let factor = spread(b, scalar, x)?;
    b.multiply(x, factor)
}

/// `beta * old + (1 - beta) * new`, in the type of `new`.
///
/// # Errors
/// When the two differ in shape.
pub fn average(b: &mut Builder<'_>, old: Value, new: Value, beta: f64) -> Result<Value> {
    let old = b.convert(old, b.dtype(new))?;
    let kept = b.multiply_scalar(old, beta)?;
    let added = b.multiply_scalar(new, 1.0 - beta)?;
    b.add(kept, added)
}
