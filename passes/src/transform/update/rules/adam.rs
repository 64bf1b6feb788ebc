//! Adam (Kingma and Ba 2015) with weight decay in the gradient, as of an L2 penalty; `eps` outside the root.

use super::moments::Moments;
use crate::transform::update::rule::{BoundRule, Kind, RefWeight, Step, Terms, UpdateRule, Weight};
use halite_ir::{Builder, Value, Values};
use halite_recipe::{Rule, Section};
use halite_support::Result;

static SECTION: Section =
    Section { name: "adam", keys: Moments::KEYS, check: |recipe| Moments::check(recipe, SECTION.name) };

#[derive(Debug)]
pub(super) struct Adam;

impl UpdateRule for Adam {
    fn section(&self) -> &'static Section {
        &SECTION
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

    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values> {
        self.moments.shared(b, terms)
    }

    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step> {
        self.moments.step(b, terms, shared, weight, weight.decay)
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, time: f64, decay: f64) {
        for i in 0..weight.value.len() {
            let gradient = weight.gradient[i] + decay * weight.value[i];
            let [m, v] = self.moments.reference(weight, i, gradient, time);
            weight.value[i] -= rate * m / (v.sqrt() + self.moments.eps);
        }
    }
}
