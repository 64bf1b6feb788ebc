//! Stochastic gradient descent.

use crate::kinds::M;
use crate::rule::{BoundRule, Kind, RefWeight, Step, Terms, UpdateRule, Weight, scaled};
use halite_ir::{Builder, Value, Values};
use halite_recipe::schema::Kind as Takes;
use halite_recipe::{Recipe, Rule, Section, table};
use halite_support::{Diagnostic, Diagnostics, Result, codes};

table! {
    /// Settings of `sgd`: `m' = momentum * m + g; w' = w - lr * m'`, with decay added to the gradient's step.
    #[derive(Clone, PartialEq, Debug)]
    struct Settings {
        /// Decay rate of the momentum; 0 keeps no state.
        momentum: f64 as Takes::DECAY = 0.0,
        /// Whether the gradient is added to the momentum again: `g + momentum * m'` instead of `m'`.
        nesterov: bool = false,
    }
}

static SECTION: Section = Section {
    name: "sgd",
    about: "Stochastic gradient descent with momentum, Nesterov's too, and decoupled weight decay.",
    keys: Settings::KEYS,
    check,
};

/// Nesterov's momentum needs one.
fn check(recipe: &Recipe) -> Diagnostics {
    recipe.optimizer.check_settings(SECTION.name, |path, settings: &Settings| {
        (settings.nesterov && settings.momentum == 0.0).then(|| {
            let message = format!("`{path}.nesterov` has no effect without `{path}.momentum`");
            let error = Diagnostic::error(codes::RECIPE_CLASH, message).key(format!("{path}.nesterov"));
            error.help("set `momentum` to a number greater than 0, or remove `nesterov`")
        })
    })
}

#[derive(Debug)]
pub(super) struct Sgd;

impl UpdateRule for Sgd {
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
        if self.settings.momentum == 0.0 { &[] } else { &[M] }
    }

    fn decay_rate(&self, kind: &str) -> Option<(&'static str, f64)> {
        (kind == M).then_some(("momentum", self.settings.momentum))
    }

    /// `m' = momentum * m + g`, `rate * m'`; without momentum `g` takes the place of `m'`, with Nesterov's `g + momentum * m'`.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, _: &[Value], weight: &Weight) -> Result<Step> {
        let gradient = scaled(b, weight.gradient, terms.factor)?;
        let (mut direction, mut state) = (gradient, Values::new());
        for &old in &weight.state {
            let m = b.convert(old, terms.dtype)?;
            let kept = b.multiply_scalar(m, self.settings.momentum)?;
            direction = b.add(kept, direction)?;
            state.push(direction);
        }
        if self.settings.nesterov {
            let ahead = b.multiply_scalar(direction, self.settings.momentum)?;
            direction = b.add(gradient, ahead)?;
        }
        Ok(Step { minus: scaled(b, direction, terms.rate)?, state })
    }

    fn reference(&self, weight: &mut RefWeight, rate: f64, _: f64, decay: f64) {
        let Settings { momentum, nesterov } = self.settings;
        for i in 0..weight.value.len() {
            let mut direction = weight.gradient[i];
            if let Some(m) = weight.state.first_mut() {
                m[i] = momentum * m[i] + direction;
                direction = if nesterov { direction + momentum * m[i] } else { m[i] };
            }
            weight.value[i] -= rate * (direction + decay * weight.value[i]);
        }
    }
}
