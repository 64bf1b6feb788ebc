//! Stochastic gradient descent with momentum and decoupled weight decay.

use super::write::{Replacements, scaled};
use super::{Terms, Weight};
use halite_ir::{Builder, Value};
use halite_recipe::builtin_rules::Sgd;
use halite_support::Result;
use halite_tensor::Slot;

/// `m' = momentum * m + g`, `w' = w - (rate * m' + rate * decay * w)`; without momentum `g` takes the place of `m'`.
pub(super) fn step(
    b: &mut Builder<'_>,
    settings: &Sgd,
    terms: &Terms,
    weight: &Weight,
    gradient: Value,
    all: &mut Replacements,
) -> Result<Value> {
    let mut direction = scaled(b, gradient, terms.factor)?;
    if let Some(old) = weight.m {
        let m = b.convert(old, terms.dtype)?;
        let kept = b.multiply_scalar(m, settings.momentum)?;
        direction = b.add(kept, direction)?;
        all.put(b, Some(Slot::M), weight, old, direction)?;
    }
    scaled(b, direction, terms.rate)
}
