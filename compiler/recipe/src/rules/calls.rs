//! Checks of `emit.calls` and `recompute`.

use crate::{Calls, Places, Recipe, Recompute, RecomputePolicy};
use halite_support::{Diagnostic, Diagnostics, codes};

pub(super) fn check(recipe: &Recipe, places: &Places, mistakes: &mut Diagnostics) {
    mistakes.extend(rounded(recipe, places));
    mistakes.extend(nothing(&recipe.recompute, places));
    mistakes.extend(budgets(&recipe.recompute, places));
    for (index, entry) in recipe.recompute.iter().enumerate() {
        mistakes.extend(entry_of_nothing(entry, index, places));
    }
}

/// Reports calls that are kept where each narrowing has random bits of its own, which a function that several calls share cannot have.
fn rounded(recipe: &Recipe, places: &Places) -> Option<Diagnostic> {
    recipe.emit.calls.filter(|calls| *calls != Calls::Inline && recipe.precision.rounds_everywhere())?;
    let message = "`emit.calls` keeps calls, but each narrowing of `precision.sr.sites = \"all\"` has bits of its own";
    let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(places.nearest("emit.calls"), "calls stay calls");
    Some(
        error.help("remove `emit.calls`: what is called is written in the place of calls then; or set `precision.sr.sites = \"weight_write\"`"),
    )
}

/// Reports `none` beside other entries.
fn nothing(entries: &[Recompute], places: &Places) -> Option<Diagnostic> {
    if entries.len() < 2 || !entries.contains(&Recompute::Policy(RecomputePolicy::None)) {
        return None;
    }
    let error = Diagnostic::error(codes::RECIPE_CLASH, "`recompute` lists `none` and something");
    Some(error.or_at(places.nearest("recompute"), "one or the other").help("remove `none`, or everything else"))
}

/// Reports several budgets: there is one memory.
fn budgets(entries: &[Recompute], places: &Places) -> Option<Diagnostic> {
    let has_budget = |entry: &&Recompute| matches!(entry, Recompute::Where(entry) if entry.budget.is_some());
    if entries.iter().filter(has_budget).count() < 2 {
        return None;
    }
    let error = Diagnostic::error(codes::RECIPE_CLASH, "`recompute` states several budgets");
    Some(error.or_at(places.nearest("recompute"), "which of them?").help("keep one"))
}

/// Reports an entry with neither a pattern nor a budget, or with both.
fn entry_of_nothing(entry: &Recompute, index: usize, places: &Places) -> Option<Diagnostic> {
    let Recompute::Where(entry) = entry else { return None };
    let by_pattern = entry.op.is_some() || entry.scope.is_some();
    let (message, label) = match (by_pattern, entry.budget) {
        (true, None) | (false, Some(_)) => return None,
        (false, None) => ("an entry of `recompute` without a pattern or a budget", "of what?"),
        (true, Some(_)) => ("an entry of `recompute` with both a pattern and a budget", "nothing is both"),
    };
    let error = Diagnostic::error(codes::RECIPE_CLASH, message);
    let error = error.or_at(places.nearest(&format!("recompute.{index}")), label);
    Some(
        error.help(
            "write e.g. `{ scope = \"model.layers.0.*\" }`, `{ op = \"exponential\" }` or `{ budget = \"9 GiB\" }`",
        ),
    )
}

impl Recipe {
    /// The form of calls in HLO, given the target's default.
    pub fn calls(&self, of_target: Calls) -> Calls {
        if self.precision.rounds_everywhere() { Calls::Inline } else { self.emit.calls.unwrap_or(of_target) }
    }

    /// Whether the recipe asks for recomputation beyond that of ops that cost next to nothing.
    pub fn recomputes(&self) -> bool {
        !matches!(self.recompute[..], [] | [Recompute::Policy(RecomputePolicy::None)])
    }

    /// The bound, in bytes, on the residuals that forwards save for backwards; `None` without a budget.
    pub fn residual_budget(&self) -> Option<u64> {
        self.recompute.iter().find_map(|entry| match entry {
            Recompute::Where(entry) => entry.budget.map(|budget| budget.0),
            Recompute::Policy(_) => None,
        })
    }
}
