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
    /// Time and money of the whole run, or of an update and a billion tokens where no tokens are stated.
    fn spent(&self) -> Spent {
        let cost = self.best.bill.cost();
        let of_run =
            |whole: &Whole| Spent { seconds: whole.run.expected, dollars: cost.map(|cost| whole.dollars(cost)) };
        let of_update = || Spent { seconds: self.best.bill.step.total, dollars: cost.map(|cost| cost.billion_tokens) };
        self.whole.as_ref().map_or_else(of_update, of_run)
    }
}

/// The time and the money that something takes.
#[derive(Clone, Copy, Debug)]
struct Spent {
    seconds: f64,
    /// `None` where no price is known.
    dollars: Option<f64>,
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
    /// Whether a run stays within them; one without a price is within no budget.
    pub(super) fn hold(&self, own: &Sized) -> bool {
        self.contain(own.spent())
    }

    /// The position of the best of some runs, `None` where none stays within the limits.
    pub(super) fn choose(&self, all: &[Sized]) -> Option<usize> {
        self.best(&all.iter().map(Sized::spent).collect::<Vec<_>>())
    }

    fn contain(&self, own: Spent) -> bool {
        let affordable = self.budget.is_none_or(|budget| own.dollars.is_some_and(|dollars| dollars <= budget));
        affordable && self.deadline.is_none_or(|deadline| own.seconds <= deadline)
    }

    /// The fastest within a budget alone, else the cheapest; the fastest where nothing has a price.
    fn best(&self, all: &[Spent]) -> Option<usize> {
        let by_speed = self.budget.is_some() && self.deadline.is_none();
        let order = |own: &Spent| own.dollars.filter(|_| !by_speed).unwrap_or(own.seconds);
        let within = all.iter().enumerate().filter(|(_, own)| self.contain(**own));
        within.min_by(|a, b| order(a.1).total_cmp(&order(b.1))).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_take_the_cheapest_and_budgets_the_fastest() {
        let spent = |seconds, dollars| Spent { seconds, dollars: Some(dollars) };
        let all = [spent(100.0, 10.0), spent(60.0, 12.0), spent(40.0, 16.0)];
        let best = |budget, deadline| Bounds { budget, deadline }.best(&all);
        assert_eq!(best(None, None), Some(0));
        assert_eq!(best(None, Some(70.0)), Some(1));
        assert_eq!(best(Some(13.0), None), Some(1));
        assert_eq!(best(Some(13.0), Some(200.0)), Some(0), "the cheapest of those that keep both");
        assert_eq!(best(Some(11.0), Some(70.0)), None);
    }

    #[test]
    fn nothing_without_a_price_is_within_a_budget() {
        let all = [Spent { seconds: 2.0, dollars: None }, Spent { seconds: 1.0, dollars: None }];
        assert_eq!(Bounds::default().best(&all), Some(1));
        assert_eq!(Bounds { budget: Some(1e9), deadline: None }.best(&all), None);
    }
}
