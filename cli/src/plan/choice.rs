//! The choice between numbers of instances.

use super::run::Whole;
use halite_plan::Planned;

/// The best layout of a number of instances, with the whole run where tokens are stated.
#[derive(Clone, Debug)]
pub(super) struct Sized {
    /// The instances.
    pub(super) instances: u64,
    /// The best layout on them.
    pub(super) best: Planned,
    /// The run on the stated tokens.
    pub(super) whole: Option<Whole>,
}

impl Sized {
    /// US dollars of the whole run, or of a billion tokens where none are stated; `None` without a price.
    fn dollars(&self) -> Option<f64> {
        let cost = self.best.bill.cost()?;
        Some(self.whole.as_ref().map_or(cost.billion_tokens, |whole| whole.dollars(cost)))
    }

    fn seconds(&self) -> f64 {
        self.whole.as_ref().map_or(self.best.bill.step.total, |whole| whole.run.expected)
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Bounds {
    /// The most US dollars.
    pub(super) budget: Option<f64>,
    /// The most seconds.
    pub(super) deadline: Option<f64>,
}

impl Bounds {
    /// Whether a run stays within them.
    pub(super) fn hold(&self, own: &Sized) -> bool {
        let affordable = self.budget.is_none_or(|budget| own.dollars().is_some_and(|dollars| dollars <= budget));
        affordable && self.deadline.is_none_or(|deadline| own.seconds() <= deadline)
    }

    /// The position of the best of some runs: the fastest within a budget, else the cheapest within a deadline, else the cheapest, and the
    /// fastest where nothing has a price. `None` where none stays within the limits.
    pub(super) fn choose(&self, all: &[Sized]) -> Option<usize> {
        let by_speed = self.budget.is_some() && self.deadline.is_none();
        let order = |own: &Sized| match (by_speed, own.dollars()) {
            (false, Some(dollars)) => dollars,
            _ => own.seconds(),
        };
        let within = all.iter().enumerate().filter(|(_, own)| self.hold(own));
        within.min_by(|a, b| order(a.1).total_cmp(&order(b.1))).map(|(at, _)| at)
    }
}
