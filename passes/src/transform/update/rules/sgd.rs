//! Stochastic gradient descent with momentum and decoupled weight decay.

use crate::transform::slots::M;
use crate::transform::update::rule::{Kind, Step, Terms, UpdateRule, Weight, scaled};
use halite_ir::{Builder, Value, Values};
use halite_recipe::builtin_rules::Sgd;
use halite_support::Result;

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) settings: Sgd,
}

impl UpdateRule for Rule {
    fn kinds(&self) -> &[Kind] {
        if self.settings.momentum == 0.0 { &[] } else { &[M] }
    }

    fn shared(&self, _: &mut Builder<'_>, _: &Terms) -> Result<Values> {
        Ok(Values::new())
    }

    /// `m' = momentum * m + g`, `rate * m'`; without momentum `g` takes the place of `m'`.
    fn step(&self, b: &mut Builder<'_>, terms: &Terms, _: &[Value], weight: &Weight) -> Result<Step> {
        let mut direction = scaled(b, weight.gradient, terms.factor)?;
        let mut state = Values::new();
        for &old in &weight.state {
            let m = b.convert(old, terms.dtype)?;
            let kept = b.multiply_scalar(m, self.settings.momentum)?;
            direction = b.add(kept, direction)?;
            state.push(direction);
        }
        Ok(Step { minus: scaled(b, direction, terms.rate)?, state })
    }
}
