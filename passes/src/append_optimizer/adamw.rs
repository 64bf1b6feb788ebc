//! AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside the root.

use super::write::{scaled, written};
use super::{Time, Weight, slot_name};
use halite_ir::{Builder, Slot, Value, present};
use halite_spec::AdamW;
use halite_support::{Name, Result};

/// The scalars that all weights share in one update.
struct Shared {
    /// Multiplies gradients: mean and clipping.
    factor: Value,
    /// The learning rate.
    rate: Value,
    /// `rate / (1 - beta1^t)`: the learning rate with the correction of the first moment.
    first: Value,
    /// `1 / (1 - beta2^t)`: the correction of the second moment.
    second: Value,
}

/// Replacements of weights, then first moments, then second ones, each with the name of its parameter.
pub(super) fn updates(
    b: &mut Builder<'_>,
    settings: &AdamW,
    time: Time,
    rate: Value,
    factor: Value,
    weights: &[Weight],
) -> Result<Vec<(Name, Value)>> {
    let first = correction(b, time, settings.betas[0])?;
    let first = b.divide(rate, first)?;
    let second = correction(b, time, settings.betas[1])?;
    let one = b.splat_like(second, 1.0)?;
    let second = b.divide(one, second)?;
    let shared = Shared { factor, rate, first, second };
    let (mut new, mut ms, mut vs) = (Vec::new(), Vec::new(), Vec::new());
    for weight in weights {
        let outer = b.enter_scope(weight.name.clone());
        let update = update(b, settings, &shared, weight)?;
        b.set_loc(outer);
        new.push((weight.name.clone(), update.weight));
        ms.push((slot_name(Slot::M, &weight.name), update.m));
        vs.push((slot_name(Slot::V, &weight.name), update.v));
    }
    new.extend(ms);
    new.extend(vs);
    Ok(new)
}

/// `1 - beta^t` as `-expm1(t ln beta)`, which stays exact where `beta^t` is near one.
fn correction(b: &mut Builder<'_>, time: Time, beta: f64) -> Result<Value> {
    let exponent = b.multiply_scalar(time.real, beta.ln())?;
    let minus = b.exponential_minus_one(exponent)?;
    b.negate(minus)
}

struct Update {
    weight: Value,
    m: Value,
    v: Value,
}

/// `w' = w - (first * m' / (sqrt(second * v') + eps) + rate * decay * w)`.
fn update(b: &mut Builder<'_>, settings: &AdamW, shared: &Shared, weight: &Weight) -> Result<Update> {
    let [beta1, beta2] = settings.betas;
    let gradient = scaled(b, weight.gradient, shared.factor)?;
    let kept = b.multiply_scalar(present(weight.m)?, beta1)?;
    let added = b.multiply_scalar(gradient, 1.0 - beta1)?;
    let m = b.add(kept, added)?;
    let kept = b.multiply_scalar(present(weight.v)?, beta2)?;
    let square = b.multiply(gradient, gradient)?;
    let added = b.multiply_scalar(square, 1.0 - beta2)?;
    let v = b.add(kept, added)?;
    let corrected = scaled(b, v, shared.second)?;
    let root = b.sqrt(corrected)?;
    let denominator = b.add_scalar(root, settings.eps)?;
    let numerator = scaled(b, m, shared.first)?;
    let step = b.divide(numerator, denominator)?;
    Ok(Update { weight: written(b, weight, step, shared.rate)?, m, v })
}
