//! What an update rule is.

use halite_ir::{Builder, Value, Values};
use halite_support::Result;
use halite_tensor::DType;
use std::fmt;

/// A kind of state, as [`StateSpec`](halite_tensor::StateSpec) names it.
pub(crate) type Kind = &'static str;

/// How a weight follows its gradient.
pub(crate) trait UpdateRule: fmt::Debug {
    /// What it keeps beside each weight, kind by kind, each of the shape of the weight.
    fn kinds(&self) -> &[Kind];

    /// Scalars that all weights share in one update.
    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values>;

    /// What is to be subtracted from a weight, decay aside, and what replaces what it keeps, in the type of arithmetic.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step>;
}

/// What every rule is given besides its settings.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    /// The type of arithmetic on tensors.
    pub(crate) dtype: DType,
    /// The learning rate.
    pub(crate) rate: Value,
    /// Multiplies gradients: mean and clip.
    pub(crate) factor: Value,
    pub(crate) time: Time,
}

/// A weight, or several end to end, as a rule sees it.
pub(crate) struct Weight {
    /// By the sum over the batch, in the type of arithmetic.
    pub(crate) gradient: Value,
    /// What the rule keeps, kind by kind.
    pub(crate) state: Values,
}

/// What a rule makes of a weight.
pub(crate) struct Step {
    /// What is subtracted from the weight.
    pub(crate) minus: Value,
    /// What replaces what the rule keeps, kind by kind.
    pub(crate) state: Values,
}

/// The number of the update being made.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    /// `t + 1`, `s32[]`.
    pub(crate) next: Value,
    /// The same as a float.
    pub(crate) real: Value,
}

impl Time {
    /// After `step` completed updates, as a float of the type of `like`.
    pub(crate) fn emit(b: &mut Builder<'_>, step: Value, like: Value) -> Result<Self> {
        let next = b.add_scalar(step, 1.0)?;
        Ok(Self { next, real: b.convert(next, b.dtype(like))? })
    }
}

/// A scalar value of the graph as a tensor of the type of `like`.
pub(crate) fn spread(b: &mut Builder<'_>, scalar: Value, like: Value) -> Result<Value> {
    let scalar = b.convert(scalar, b.dtype(like))?;
    let shape = b.shape(like).clone();
    b.broadcast_in_dim(scalar, &[], shape)
}

/// A tensor times a scalar value of the graph.
pub(crate) fn scaled(b: &mut Builder<'_>, x: Value, scalar: Value) -> Result<Value> {
    let factor = spread(b, scalar, x)?;
    b.multiply(x, factor)
}
