//! Exponential averages of gradients and of their squares, which the rules of Adam's family share.

use crate::kinds::{M, V};
use crate::rule::{BoundRule, Kind, RefWeight, Step, Terms, Weight, scaled, spread};
use halite_ir::{Builder, Value, Values};
use halite_recipe::schema::Kind as Takes;
use halite_recipe::{Recipe, in_update, table};
use halite_support::{Diagnostic, Diagnostics, Result};
use smallvec::smallvec;

table! {
    /// Settings of rules with two moments.
    #[derive(Clone, PartialEq, Debug)]
    pub(super) struct Moments {
        /// Decay rates of the first and second moment.
        pub(super) betas: [f64; 2] as Takes::DECAYS = [0.9, 0.95],
        /// Added to the root of the second moment.
        pub(super) eps: f64 as Takes::POSITIVE = 1e-8,
    }
}

impl Moments {
    pub(super) const STATE: &[Kind] = &[M, V];

    /// Checks the settings of a rule, wherever it is named: `eps` is multiplied by the root of the bias correction of the second
    /// moment, which is smallest at the first update.
    pub(super) fn check(recipe: &Recipe, rule: &str) -> Diagnostics {
        recipe.optimizer.check_settings(rule, |path, Moments { betas: [_, second], eps }| {
            let corrected = eps * (1.0 - second).sqrt();
            in_update(recipe, format!("{path}.eps"), "the correction at the first update", corrected)
        })
    }

    pub(super) fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)> {
        match kind {
            M => Some(("beta1", self.betas[0])),
            V => Some(("beta2", self.betas[1])),
            _ => None,
        }
    }

    /// Advances the moments of element `at` by a gradient; gives them corrected.
    pub(super) fn reference(&self, weight: &mut RefWeight, at: usize, gradient: f64, time: f64) -> [f64; 2] {
        let mut corrected = [gradient, gradient * gradient];
        for ((moments, beta), new) in weight.state.iter_mut().zip(self.betas).zip(&mut corrected) {
            moments[at] = beta * moments[at] + (1.0 - beta) * *new;
            *new = moments[at] / (1.0 - beta.powf(time));
        }
        corrected
    }
}

/// Steps along the first moment by the root of the second, both corrected for their bias: Adam, and AdamW.
#[derive(Debug)]
pub(super) struct Corrected {
    pub(super) moments: Moments,
    /// Whether weight decay stands beside the step; otherwise it is part of the gradient, as that of an L2 penalty.
    pub(super) decouples_decay: bool,
}

impl BoundRule for Corrected {
    fn kinds(&self) -> &[Kind] {
        Moments::STATE
    }

    fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)> {
        self.moments.decay_rate(kind)
    }

    fn decouples_decay(&self) -> bool {
        self.decouples_decay
    }

    /// - `(1 - beta1) * factor`: what a gradient adds to the first moment, mean and clip included;
    /// - `rate * sqrt(1 - beta2^t) / (1 - beta1^t)`: the learning rate with both corrections;
    /// - `eps * sqrt(1 - beta2^t)`: what is added to the root of a second moment that is not corrected.
    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values> {
        let [beta1, beta2] = self.moments.betas;
        let gain = b.multiply_scalar(terms.factor, 1.0 - beta1)?;
        let first = correction(b, terms.time.real, beta1)?;
        let second = correction(b, terms.time.real, beta2)?;
        let root = b.sqrt(second)?;
        let rate = b.multiply(terms.rate, root)?;
        let rate = b.divide(rate, first)?;
        let eps = b.multiply_scalar(root, self.moments.eps)?;
        Ok(smallvec![gain, rate, eps])
    }

    /// `m' = beta1 * m + added`, `v' = beta2 * v + (1 - beta2) / (1 - beta1)^2 * added^2` with `added = gain * gradient +
    /// (1 - beta1) * decay * weight`, and `rate * m' / (sqrt(v') + eps)` with the corrected rate and `eps`.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step> {
        let [beta1, beta2] = self.moments.betas;
        let (&[gain, rate, eps], &[m, v]) = (shared, &weight.state[..]) else {
            return Err(Diagnostic::bug("an update rule without its moments"));
        };
        let m = b.convert(m, terms.dtype)?;
        let kept = b.multiply_scalar(m, beta1)?;
        let mut added = scaled(b, weight.gradient, gain)?;
        if !self.decouples_decay && weight.decay != 0.0 {
            let value = b.convert(weight.value, terms.dtype)?;
            let decay = b.multiply_scalar(value, (1.0 - beta1) * weight.decay)?;
            added = b.add(added, decay)?;
        }
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

    fn reference(&self, weight: &mut RefWeight, rate: f64, time: f64, decay: f64) {
        let (beside, within) = if self.decouples_decay { (decay, 0.0) } else { (0.0, decay) };
        for i in 0..weight.value.len() {
            let gradient = weight.gradient[i] + within * weight.value[i];
            let [m, v] = self.moments.reference(weight, i, gradient, time);
            weight.value[i] -= rate * (m / (v.sqrt() + self.moments.eps) + beside * weight.value[i]);
        }
    }
}

/// `1 - beta^t` as `-expm1(t ln beta)`, which stays exact where `beta^t` is near one.
pub(super) fn correction(b: &mut Builder<'_>, time: Value, beta: f64) -> Result<Value> {
    let exponent = b.multiply_scalar(time, beta.ln())?;
    let minus = b.exponential_minus_one(exponent)?;
    b.negate(minus)
}
