//! Lion.

use crate::kinds::M;
use crate::rule::{BoundRule, Kind, RefWeight, Step, Terms, UpdateRule, Weight, average, scaled};
use halite_ir::{Builder, Value};
use halite_recipe::schema::Kind as Takes;
use halite_recipe::{Rule, Section, table};
use halite_support::{Diagnostic, Result};
use smallvec::smallvec;

table! {
    /// Settings of `lion`.
    #[derive(Clone, PartialEq, Debug)]
    struct Settings {
        /// The share of the momentum in what the sign is taken of, and the decay rate of the momentum.
        betas: [f64; 2] as Takes::DECAYS = [0.9, 0.99],
    }
}

static SECTION: Section = Section {
    name: "lion",
    about: "Lion (Chen et al. 2023): the sign of an interpolated momentum, with decoupled weight decay.",
    keys: Settings::KEYS,
    check: |recipe| recipe.optimizer.check_settings(SECTION.name, |_, _: &Settings| None),
};

#[derive(Debug)]
pub(super) struct Lion;

impl UpdateRule for Lion {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, settings: &Rule) -> Result<Box<dyn BoundRule>> {
        Ok(Box::new(Bound { settings: settings.settings()? }))
    }
}

#[derive(Debug)]
struct Bound {
    settings: Settings,
}

impl BoundRule for Bound {
    fn kinds(&self) -> &[Kind] {
        &[M]
    }

    fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)> {
        (kind == M).then_some(("beta2", self.settings.betas[1]))
    }

    /// `rate * sign(beta1 * m + (1 - beta1) * g)`, `m' = beta2 * m + (1 - beta2) * g`.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, _: &[Value], weight: &Weight) -> Result<Step> {
        let ([beta1, beta2], &[m]) = (self.settings.betas, &weight.state[..]) else {
            return Err(Diagnostic::bug("Lion without its momentum"));
        };
        let gradient = scaled(b, weight.gradient, terms.factor)?;
        let direction = average(b, m, gradient, beta1)?;
        let sign = b.sign(direction)?;
        Ok(Step { minus: scaled(b, sign, terms.rate)?, state: smallvec![average(b, m, gradient, beta2)?] })
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, _: f64, decay: f64) {
        let [beta1, beta2] = self.settings.betas;
        for (i, value) in weight.value.iter_mut().enumerate() {
            let (m, gradient) = (&mut weight.state[0][i], weight.gradient[i]);
            let direction = beta1 * *m + (1.0 - beta1) * gradient;
            let sign = if direction == 0.0 { 0.0 } else { direction.signum() };
            *m = beta2 * *m + (1.0 - beta2) * gradient;
            *value -= rate * (sign + decay * *value);
        }
    }
}
