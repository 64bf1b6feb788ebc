//! Stochastic gradient descent with momentum and decoupled weight decay.

use super::write::{scaled, written};
use super::{Weight, slot_name};
use halite_ir::{Builder, Slot, Value};
use halite_spec::Sgd;
use halite_support::{Name, Result};

/// `m' = momentum * m + g`, `w' = w - (rate * m' + rate * decay * w)`; without momentum `g` takes the place of `m'`.
/// Replacements of weights, then of momenta, each with the name of its parameter.
pub(super) fn updates(
    b: &mut Builder<'_>,
    settings: &Sgd,
    rate: Value,
    factor: Value,
    weights: &[Weight],
) -> Result<Vec<(Name, Value)>> {
    let (mut new, mut momenta) = (Vec::new(), Vec::new());
    for weight in weights {
        let outer = b.enter_scope(weight.name.clone());
        let mut direction = scaled(b, weight.gradient, factor)?;
        if let Some(m) = weight.m {
            let kept = b.multiply_scalar(m, settings.momentum)?;
            direction = b.add(kept, direction)?;
            momenta.push((slot_name(Slot::M, &weight.name), direction));
        }
        let step = scaled(b, direction, rate)?;
        new.push((weight.name.clone(), written(b, weight, step, rate)?));
        b.set_loc(outer);
    }
    new.extend(momenta);
    Ok(new)
}
