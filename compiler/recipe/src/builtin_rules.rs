//! The update rules and the shapes of schedules that Halite comes with: their settings and what is wrong with these.

use crate::rules::in_update;
use crate::schema::Kind;
use crate::{Recipe, Schedule, Section, table};
use halite_support::{Diagnostic, Diagnostics};

table! {
    /// Settings of `adamw`, AdamW (Loshchilov and Hutter 2019): decoupled weight decay, bias-corrected moments, `eps` outside
    /// the root.
    #[derive(Clone, PartialEq, Debug)]
    pub struct AdamW {
        /// Decay rates of the first and second moment.
        pub betas: [f64; 2] as Kind::DECAYS = [0.9, 0.95],
        /// Added to the root of the second moment.
        pub eps: f64 as Kind::POSITIVE = 1e-8,
    }
}

table! {
    /// Settings of `sgd`: `v' = momentum * v + g; w' = w - lr * v'`, with decay added to the gradient's step.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Sgd {
        /// Decay rate of the momentum; 0 keeps no state.
        pub momentum: f64 as Kind::DECAY = 0.0,
    }
}

static ADAMW: Section = Section { name: "adamw", keys: AdamW::KEYS, check: adamw };

static SGD: Section = Section { name: "sgd", keys: Sgd::KEYS, check: sgd };

static COSINE: Section = Section { name: Schedule::COSINE, keys: &[], check: |_| Diagnostics::new() };

/// The update rules.
pub fn rules() -> Vec<&'static Section> {
    vec![&ADAMW, &SGD]
}

/// The shapes of schedules.
pub fn shapes() -> Vec<&'static Section> {
    vec![&COSINE]
}

/// `eps` is multiplied by the root of what corrects the second moment, which is smallest at the first update.
fn adamw(recipe: &Recipe) -> Diagnostics {
    let check = |(path, settings): (String, Result<AdamW, Diagnostic>)| match settings {
        Ok(AdamW { betas: [_, second], eps }) => {
            let corrected = eps * (1.0 - second).sqrt();
            in_update(recipe, format!("{path}.eps"), "the correction at the first update", corrected)
        }
        Err(error) => Some(error.key(path)),
    };
    recipe.optimizer.settings("adamw").filter_map(check).collect()
}

fn sgd(recipe: &Recipe) -> Diagnostics {
    let check = |(path, settings): (String, Result<Sgd, Diagnostic>)| settings.err().map(|error| error.key(path));
    recipe.optimizer.settings("sgd").filter_map(check).collect()
}
