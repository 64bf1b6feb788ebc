//! The least that is computed again such that no more than a budget is kept.

use super::price::{Price, Totals};
use halite_recipe::ByteSize;
use halite_support::units::bytes;
use halite_support::{Diagnostic, Result, codes};

/// The price at each couple of the entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    /// The price at the first ones.
    first: Price,
    /// The price at the others.
    rest: Price,
    /// The number of the first ones.
    from: usize,
}

impl Plan {
    /// One price for all.
    pub(super) fn all(price: Price) -> Self {
        Self { first: price, rest: price, from: 0 }
    }

    /// The price at a couple.
    pub(super) fn price(self, ordinal: usize) -> Price {
        if ordinal < self.from { self.first } else { self.rest }
    }
}

/// The most times that the line between two plans is halved. Each time is another corner of the hull, of which there are few.
const ROUNDS: usize = 64;

/// A price, with the totals and the number of couples that it leads to.
#[derive(Clone, Copy)]
struct Tried {
    price: Price,
    totals: Totals,
    couples: usize,
}

/// Finds the plan. `run` returns the totals that a plan leads to and the number of couples for which it has a price.
///
/// The totals of a price lie on the lower hull of bytes against operations: the search goes along it to the two corners around the
/// budget. As many couples as the budget allows have the price of the faster one; they come last.
///
/// # Errors
/// When the fewest bytes are more than the budget.
pub(super) fn plan(budget: u64, run: impl Fn(Plan) -> Result<(Totals, usize)>) -> Result<Plan> {
    let run_price = |price: Price| -> Result<Tried> {
        let (totals, couples) = run(Plan::all(price))?;
        Ok(Tried { price, totals, couples })
    };
    let mut fast = run_price(Price::SPEED)?;
    if fast.totals.bytes <= budget {
        return Ok(Plan::all(Price::SPEED));
    }
    let mut small = run_price(Price::MEMORY)?;
    if small.totals.bytes > budget {
        return Err(unmet(budget, small.totals.bytes));
    }
    for _ in 0..ROUNDS {
        let byte = small.totals.flops.saturating_sub(fast.totals.flops);
        let price = Price { byte, flop: fast.totals.bytes - small.totals.bytes };
        let next = run_price(price)?;
        if [small, fast].iter().any(|corner| price.of(corner.totals) <= price.of(next.totals)) {
            break;
        }
        *(if next.totals.bytes <= budget { &mut small } else { &mut fast }) = next;
    }
    let (mut enough, mut few) = (small.couples, 0);
    while enough - few > 1 {
        let from = few + (enough - few) / 2;
        let fits = run(Plan { first: small.price, rest: fast.price, from })?.0.bytes <= budget;
        *(if fits { &mut enough } else { &mut few }) = from;
    }
    Ok(Plan { first: small.price, rest: fast.price, from: enough })
}

fn unmet(budget: u64, least: u64) -> Diagnostic {
    let kept = format!("what forwards keep for backwards takes {} at least", bytes(least));
    Diagnostic::error(codes::RECIPE_RANGE, format!("{kept}, the budget of `recompute` is {}", bytes(budget)))
        .key("recompute")
        .help(format!("raise the budget to {}, let more be computed again, or lower `batch` or `seq`", ByteSize(least)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layers each of which keeps 100 bytes, or 40 for 10 operations, or 10 for 40.
    fn totals(plan: Plan, layers: usize) -> Totals {
        let each = |ordinal| {
            let price = plan.price(ordinal);
            let choices = [(100, 0), (40, 10), (10, 40)].map(|(bytes, flops)| Totals { bytes, flops });
            choices.into_iter().min_by_key(|totals| price.of(*totals)).unwrap()
        };
        (0..layers).map(each).fold(Totals::default(), |sum, each| Totals {
            bytes: sum.bytes + each.bytes,
            flops: sum.flops + each.flops,
        })
    }

    #[test]
    fn no_more_is_computed_again_than_a_budget_asks_for() {
        for (budget, expected) in
            [(1000, (1000, 0)), (999, (940, 10)), (400, (400, 100)), (399, (370, 130)), (100, (100, 400))]
        {
            let found = totals(plan(budget, |plan| Ok((totals(plan, 10), 10))).unwrap(), 10);
            assert_eq!((found.bytes, found.flops), expected, "of {budget} bytes");
        }
        let error = plan(99, |plan| Ok((totals(plan, 10), 10))).unwrap_err();
        assert!(error.message().contains("takes 100 B at least, the budget of `recompute` is 99 B"), "{error}");
    }
}
