//! Stochastic gradient descent with momentum and decoupled weight decay.

use super::write::{Replacements, scaled};
use super::{Terms, Weight};
use halite_ir::{Builder, Value};
use halite_spec::Sgd;
use halite_support::{Name, Result};
use halite_tensor::Slot;

/// `m' = momentum * m + g`, `w' = w - (rate * m' + rate * decay * w)`; without momentum `g` takes the place of `m'`.
/// Replacements of weights, then of momenta and masters, each with the name of its parameter.
pub(super) fn updates(
    b: &mut Builder<'_>,
    settings: &Sgd,
    terms: &Terms,
    weights: &[Weight],
) -> Result<Vec<(Name, Value)>> {
    let &Terms { dtype, rate, factor } = terms;
    let mut all = Replacements::default();
    for weight in weights {
        let outer = b.enter_scope(weight.scope.clone());
        let gradient = b.convert(weight.gradient, dtype)?;
        let mut direction = scaled(b, gradient, factor)?;
        if let Some(old) = weight.m {
            let m = b.convert(old, dtype)?;
            let kept = b.multiply_scalar(m, settings.momentum)?;
            direction = b.add(kept, direction)?;
            all.put(b, Some(Slot::M), weight, old, direction)?;
        }
        let step = scaled(b, direction, rate)?;
        all.weight(b, weight, step, rate)?;
        b.set_loc(outer);
    }
    Ok(all.in_order())
}
