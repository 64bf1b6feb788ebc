//! AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside the root.

use super::write::{Replacements, Written, scaled, written};
use super::{Time, Weight};
use halite_ir::{Builder, Slot, Value, present};
use halite_spec::AdamW;
use halite_support::{Name, Result};
use halite_tensor::DType;

/// The scalars that all weights share in one update.
struct Shared {
    /// The type of arithmetic on tensors.
    dtype: DType,
    /// Multiplies gradients: mean and clipping.
    factor: Value,
    /// The learning rate.
    rate: Value,
    /// `rate / (1 - beta1^t)`: the learning rate with the correction of the first moment.
    first: Value,
    /// `1 / (1 - beta2^t)`: the correction of the second moment.
    second: Value,
}

/// Replacements of weights, then first moments, second ones and masters, each with the name of its parameter.
pub(super) fn updates(
    b: &mut Builder<'_>,
    settings: &AdamW,
    time: Time,
    rate: Value,
    factor: Value,
    dtype: DType,
    weights: &[Weight],
) -> Result<Vec<(Name, Value)>> {
    let first = correction(b, time, settings.betas[0])?;
    let first = b.divide(rate, first)?;
    let second = correction(b, time, settings.betas[1])?;
    let one = b.splat_like(second, 1.0)?;
    let second = b.divide(one, second)?;
    let shared = Shared { dtype, factor, rate, first, second };
    let mut all = Replacements::default();
    for weight in weights {
        let outer = b.enter_scope(weight.name.clone());
        let update = update(b, settings, &shared, weight)?;
        b.set_loc(outer);
        all.written(&weight.name, &update.written);
        all.slot(Slot::M, &weight.name, update.m);
        all.slot(Slot::V, &weight.name, update.v);
    }
    Ok(all.in_order())
}

/// `1 - beta^t` as `-expm1(t ln beta)`, which stays exact where `beta^t` is near one.
fn correction(b: &mut Builder<'_>, time: Time, beta: f64) -> Result<Value> {
    let exponent = b.multiply_scalar(time.real, beta.ln())?;
    let minus = b.exponential_minus_one(exponent)?;
    b.negate(minus)
}

struct Update {
    written: Written,
    m: Value,
    v: Value,
}

/// `w' = w - (first * m' / (sqrt(second * v') + eps) + rate * decay * w)`.
fn update(b: &mut Builder<'_>, settings: &AdamW, shared: &Shared, weight: &Weight) -> Result<Update> {
    let [beta1, beta2] = settings.betas;
    let gradient = b.convert(weight.gradient, shared.dtype)?;
    let gradient = scaled(b, gradient, shared.factor)?;
    let (old_m, old_v) = (present(weight.m)?, present(weight.v)?);
    let m = b.convert(old_m, shared.dtype)?;
    let kept = b.multiply_scalar(m, beta1)?;
    let added = b.multiply_scalar(gradient, 1.0 - beta1)?;
    let m = b.add(kept, added)?;
    let v = b.convert(old_v, shared.dtype)?;
    let kept = b.multiply_scalar(v, beta2)?;
    let square = b.multiply(gradient, gradient)?;
    let added = b.multiply_scalar(square, 1.0 - beta2)?;
    let v = b.add(kept, added)?;
    let corrected = scaled(b, v, shared.second)?;
    let root = b.sqrt(corrected)?;
    let denominator = b.add_scalar(root, settings.eps)?;
    let numerator = scaled(b, m, shared.first)?;
    let step = b.divide(numerator, denominator)?;
    let (m, v) = (b.convert(m, b.dtype(old_m))?, b.convert(v, b.dtype(old_v))?);
    Ok(Update { written: written(b, weight, step, shared.rate)?, m, v })
}
