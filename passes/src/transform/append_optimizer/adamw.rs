//! AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside the root.

use super::write::{Replacements, scaled, spread};
use super::{Terms, Time, Weight};
use halite_ir::{Builder, Value, present};
use halite_recipe::builtin_rules::AdamW;
use halite_support::Result;
use halite_tensor::DType;
use halite_tensor::Slot;

/// The scalars that all weights share in one update.
pub(super) struct Shared {
    /// The type of arithmetic on tensors.
    dtype: DType,
    /// `(1 - beta1) * factor`: what a gradient adds to the first moment, mean and clipping included.
    gain: Value,
    /// `rate * sqrt(1 - beta2^t) / (1 - beta1^t)`: the learning rate with both corrections.
    corrected_rate: Value,
    /// `eps * sqrt(1 - beta2^t)`: what is added to the root of a second moment that is not corrected.
    corrected_eps: Value,
}

/// What is computed once for all weights.
pub(super) fn shared(b: &mut Builder<'_>, settings: &AdamW, time: Time, terms: &Terms) -> Result<Shared> {
    let [beta1, beta2] = settings.betas;
    let &Terms { dtype, rate, factor } = terms;
    let gain = b.multiply_scalar(factor, 1.0 - beta1)?;
    let first = correction(b, time, beta1)?;
    let second = correction(b, time, beta2)?;
    let root = b.sqrt(second)?;
    let corrected_rate = b.multiply(rate, root)?;
    let corrected_rate = b.divide(corrected_rate, first)?;
    let corrected_eps = b.multiply_scalar(root, settings.eps)?;
    Ok(Shared { dtype, gain, corrected_rate, corrected_eps })
}

/// `1 - beta^t` as `-expm1(t ln beta)`, which stays exact where `beta^t` is near one.
fn correction(b: &mut Builder<'_>, time: Time, beta: f64) -> Result<Value> {
    let exponent = b.multiply_scalar(time.real, beta.ln())?;
    let minus = b.exponential_minus_one(exponent)?;
    b.negate(minus)
}

/// `m' = beta1 * m + added`, `v' = beta2 * v + (1 - beta2) / (1 - beta1)^2 * added^2` with `added = gain * gradient`, and
/// `w' = w - (corrected_rate * m' / (sqrt(v') + corrected_eps) + rate * decay * w)`.
pub(super) fn step(
    b: &mut Builder<'_>,
    settings: &AdamW,
    shared: &Shared,
    weight: &Weight,
    gradient: Value,
    all: &mut Replacements,
) -> Result<Value> {
    let [beta1, beta2] = settings.betas;
    let (old_m, old_v) = (present(weight.m)?, present(weight.v)?);
    let m = b.convert(old_m, shared.dtype)?;
    let kept = b.multiply_scalar(m, beta1)?;
    let added = scaled(b, gradient, shared.gain)?;
    let m = b.add(kept, added)?;
    let v = b.convert(old_v, shared.dtype)?;
    let kept = b.multiply_scalar(v, beta2)?;
    let square = b.multiply(added, added)?;
    let added = b.multiply_scalar(square, (1.0 - beta2) / (1.0 - beta1).powi(2))?;
    let v = b.add(kept, added)?;
    let root = b.sqrt(v)?;
    let eps = spread(b, shared.corrected_eps, root)?;
    let denominator = b.add(root, eps)?;
    let numerator = scaled(b, m, shared.corrected_rate)?;
    let step = b.divide(numerator, denominator)?;
    all.put(b, Some(Slot::M), weight, old_m, m)?;
    all.put(b, Some(Slot::V), weight, old_v, v)?;
    Ok(step)
}
