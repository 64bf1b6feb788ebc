//! LANS. As in the authors' program a ratio of norms is 1 where either is 0.

use super::moments::{Moments, correction};
use super::norm::{norm, ratio, reference, reference_ratio};
use crate::rule::{BoundRule, Kind, RefWeight, Step, Terms, UpdateRule, Weight, average, scaled, spread};
use halite_ir::{Builder, Value, Values};
use halite_recipe::{Rule, Section};
use halite_support::{Diagnostic, Result};
use smallvec::smallvec;

static SECTION: Section = Section {
    name: "lans",
    about: "LANS (Zheng, Lin, Zha and Li 2020): normalized gradients, and steps as large as the weight, of Adam's direction and of the gradient's.",
    keys: Moments::KEYS,
    check: |recipe| Moments::check(recipe, SECTION.name),
};

#[derive(Debug)]
pub(super) struct Lans;

impl UpdateRule for Lans {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn is_elementwise(&self) -> bool {
        false
    }

    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>> {
        Ok(Box::new(Bound { moments: settings.settings()? }))
    }
}

#[derive(Debug)]
struct Bound {
    moments: Moments,
}

impl BoundRule for Bound {
    fn kinds(&self) -> &[Kind] {
        Moments::STATE
    }

    fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)> {
        self.moments.decay_rate(kind)
    }

    fn decouples_decay(&self) -> bool {
        false
    }

    /// The bias corrections of the moments: `1 - beta1^t` and `1 - beta2^t`.
    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values> {
        let [beta1, beta2] = self.moments.betas;
        Ok(smallvec![correction(b, terms.time.real, beta1)?, correction(b, terms.time.real, beta2)?])
    }

    /// `rate * norm(w) * (beta1 * r / norm(r) + (1 - beta1) * c / norm(c))`, where `r` is the direction of AdamW, decay included, and
    /// `c` the same with the normalized gradient in the place of the first moment.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step> {
        let Moments { betas: [beta1, beta2], eps } = self.moments;
        let (&[first, second], &[m, v]) = (shared, &weight.state[..]) else {
            return Err(Diagnostic::bug("LANS without its moments"));
        };
        let gradient = scaled(b, weight.gradient, terms.factor)?;
        let length = norm(b, gradient)?;
        let one = b.splat_like(length, 1.0)?;
        let shrink = ratio(b, one, length)?;
        let gradient = scaled(b, gradient, shrink)?;
        let m = average(b, m, gradient, beta1)?;
        let square = b.multiply(gradient, gradient)?;
        let v = average(b, v, square, beta2)?;
        let second = spread(b, second, v)?;
        let corrected = b.divide(v, second)?;
        let root = b.sqrt(corrected)?;
        let root = b.add_scalar(root, eps)?;
        let first = spread(b, first, m)?;
        let corrected = b.divide(m, first)?;
        let value = b.convert(weight.value, terms.dtype)?;
        let size = norm(b, value)?;
        let mut parts = Vec::new();
        for (numerator, share) in [(corrected, beta1), (gradient, 1.0 - beta1)] {
            let direction = b.divide(numerator, root)?;
            let decay = b.multiply_scalar(value, weight.decay)?;
            let direction = b.add(direction, decay)?;
            let length = norm(b, direction)?;
            let ratio = ratio(b, size, length)?;
            let ratio = b.multiply_scalar(ratio, share)?;
            parts.push(scaled(b, direction, ratio)?);
        }
        let both = b.add(parts[0], parts[1])?;
        Ok(Step { minus: scaled(b, both, terms.rate)?, state: smallvec![m, v] })
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, time: f64, decay: f64) {
        let shrink = reference_ratio(1.0, reference(&weight.gradient));
        let size = reference(&weight.value);
        let mut parts = [Vec::new(), Vec::new()];
        for i in 0..weight.value.len() {
            let gradient = weight.gradient[i] * shrink;
            let [m, v] = self.moments.reference(weight, i, gradient, time);
            for (part, numerator) in parts.iter_mut().zip([m, gradient]) {
                part.push(numerator / (v.sqrt() + self.moments.eps) + decay * weight.value[i]);
            }
        }
        let beta1 = self.moments.betas[0];
        for (part, share) in parts.iter().zip([beta1, 1.0 - beta1]) {
            let ratio = reference_ratio(size, reference(part));
            weight.value.iter_mut().zip(part).for_each(|(value, step)| *value -= rate * share * ratio * step);
        }
    }
}
