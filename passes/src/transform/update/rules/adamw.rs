//! AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside the root.

use super::moments::Moments;
use crate::transform::update::rule::{BoundRule, Kind, RefWeight, Step, Terms, UpdateRule, Weight};
use halite_ir::{Builder, Value, Values};
use halite_recipe::{Rule, Section};
use halite_support::Result;

static SECTION: Section =
    Section { name: "adamw", keys: Moments::KEYS, check: |recipe| Moments::check(recipe, SECTION.name) };

#[derive(Debug)]
pub(super) struct AdamW;

impl UpdateRule for AdamW {
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

    fn shared(&self, b: &mut Builder<'_>, terms: &Terms) -> Result<Values> {
        self.moments.shared(b, terms)
    }

    fn step(&self, b: &mut Builder<'_>, terms: &Terms, shared: &[Value], weight: &Weight) -> Result<Step> {
        self.moments.step(b, terms, shared, weight, 0.0)
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, time: f64, decay: f64) {
        for i in 0..weight.value.len() {
            let [m, v] = self.moments.reference(weight, i, weight.gradient[i], time);
            weight.value[i] -= rate * (m / (v.sqrt() + self.moments.eps) + decay * weight.value[i]);
        }
    }
}
