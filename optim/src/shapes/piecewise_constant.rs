//! The shape `piecewise_constant`.

use crate::rule::Time;
use crate::shape::{BoundShape, ScheduleShape};
use halite_ir::ops::Direction;
use halite_ir::{Builder, Value};
use halite_recipe::schema::Kind as Takes;
use halite_recipe::{Recipe, Schedule, Section, table};
use halite_support::{Diagnostic, Diagnostics, Result, codes};

table! {
    /// Settings of `piecewise_constant`.
    #[derive(Clone, PartialEq, Debug)]
    struct Settings {
        /// The updates, ascending, from which on the shares hold.
        at: Vec<u32> as Takes::COUNTS,
        /// The shares of the peak.
        factors: Vec<f64> as Takes::SHARES,
    }
}

static SECTION: Section = Section {
    name: "piecewise_constant",
    about: "The peak, and from each of some updates on another share of it.",
    keys: Settings::KEYS,
    check,
};

/// As many factors as updates, which ascend.
fn check(recipe: &Recipe) -> Diagnostics {
    recipe.schedule.check_settings(SECTION.name, |Settings { at, factors }| {
        let clash = |key: &str, message: String| Diagnostic::error(codes::RECIPE_CLASH, message).key(key);
        if at.len() != factors.len() {
            let message = format!("`schedule.factors` has {} entries, `schedule.at` has {}", factors.len(), at.len());
            return clash("schedule.factors", message).help("write one factor for each update of `at`").into();
        }
        match at.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Diagnostics::new(),
            Some(pair) => {
                let message = format!("`schedule.at` has {} after {}", pair[1], pair[0]);
                clash("schedule.at", message).help("list the updates in ascending order, each once").into()
            }
        }
    })
}

#[derive(Debug)]
pub(super) struct PiecewiseConstant;

impl ScheduleShape for PiecewiseConstant {
    fn section(&self) -> &'static Section {
        &SECTION
    }

    fn read(&self, schedule: &Schedule) -> Result<Box<dyn BoundShape>> {
        let Settings { at, factors } = schedule.settings()?;
        Ok(Box::new(Bound { pieces: at.into_iter().map(f64::from).zip(factors).collect() }))
    }
}

#[derive(Debug)]
struct Bound {
    /// From which update on, and the share of the peak.
    pieces: Vec<(f64, f64)>,
}

impl BoundShape for Bound {
    fn rate(&self, b: &mut Builder<'_>, time: Time, peak: f64) -> Result<Value> {
        let mut rate = b.splat_like(time.real, peak)?;
        for &(at, factor) in &self.pieces {
            let (start, piece) = (b.splat_like(time.real, at)?, b.splat_like(time.real, peak * factor)?);
            let has_begun = b.compare(time.real, start, Direction::Ge)?;
            rate = b.select(has_begun, piece, rate)?;
        }
        Ok(rate)
    }

    fn reference(&self, time: f64) -> f64 {
        let last = self.pieces.iter().rev().find(|(at, _)| time >= *at);
        last.map_or(1.0, |(_, factor)| *factor)
    }
}
