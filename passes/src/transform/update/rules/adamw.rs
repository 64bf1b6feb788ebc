//! AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside the root.

use crate::transform::slots::{M, V};
use crate::transform::update::rule::{Kind, Step, Terms, Time, UpdateRule, Weight, scaled, spread};
use halite_ir::{Builder, Value, Values};
use halite_recipe::builtin_rules::AdamW;
use halite_support::{Diagnostic, Result};
use smallvec::smallvec;

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) settings: AdamW,
}

impl UpdateRule for Rule {
    fn kinds(&self) -> &[Kind] {
        &[M, V]
    }

    /// - `(1 - beta1) * factor`: what a gradient adds to the first moment, mean and clip included;
    /// - `rate * sqrt(1 - beta2^t) / (1 - beta1^t)`: the learning rate with both corrections;
    /// - `eps * sqrt(1 - beta2^t)`: what is added to the root of a second moment that is not corrected.
    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values> {
        let [beta1, beta2] = self.settings.betas;
        let gain = b.multiply_scalar(terms.factor, 1.0 - beta1)?;
        let first = correction(b, terms.time, beta1)?;
        let second = correction(b, terms.time, beta2)?;
        let root = b.sqrt(second)?;
        let rate = b.multiply(terms.rate, root)?;
        let rate = b.divide(rate, first)?;
        let eps = b.multiply_scalar(root, self.settings.eps)?;
        Ok(smallvec![gain, rate, eps])
    }

    /// `m' = beta1 * m + added`, `v' = beta2 * v + (1 - beta2) / (1 - beta1)^2 * added^2` with `added = gain * gradient`, and
    /// `rate * m' / (sqrt(v') + eps)` with the corrected rate and `eps`.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step> {
        let [beta1, beta2] = self.settings.betas;
        let (&[gain, rate, eps], &[m, v]) = (shared, &weight.state[..]) else {
            return Err(Diagnostic::bug("AdamW without its moments"));
        };
        let m = b.convert(m, terms.dtype)?;
        let kept = b.multiply_scalar(m, beta1)?;
        let added = scaled(b, weight.gradient, gain)?;
        let m = b.add(kept, added)?;
        let v = b.convert(v, terms.dtype)?;
        let kept = b.multiply_scalar(v, beta2)?;
        let square = b.multiply(added, added)?;
        let added = b.multiply_scalar(square, (1.0 - beta2) / (1.0 - beta1).powi(2))?;
        let v = b.add(kept, added)?;
        let root = b.sqrt(v)?;
        let eps = spread(b, eps, root)?;
        let denominator = b.add(root, eps)?;
        let numerator = scaled(b, m, rate)?;
        Ok(Step { minus: b.divide(numerator, denominator)?, state: smallvec![m, v] })
    }
}

/// `1 - beta^t` as `-expm1(t ln beta)`, which stays exact where `beta^t` is near one.
fn correction(b: &mut Builder<'_>, time: Time, beta: f64) -> Result<Value> {
    let exponent = b.multiply_scalar(time.real, beta.ln())?;
    let minus = b.exponential_minus_one(exponent)?;
    b.negate(minus)
}
