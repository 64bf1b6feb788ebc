//! `check-replicas` on what the compiler makes in mixed precision: nothing is found. In `f64` each case of the law on layouts passes it.

use halite_analysis::{Moves, replicas};
use halite_ir::Module;
use halite_tests::meshes::{ALL_MODELS, Model, OnMesh, Ranks, shapes};
use halite_tests::parallel::for_each;
use halite_tests::{layouts, layouts::is_long, many_ranks};
use std::fmt::Debug;

/// The first finding in the step of one rank.
fn finding(case: &impl Debug, local: &Module) -> Option<String> {
    let first = replicas(local, Moves::Written).into_iter().next()?;
    Some(format!("{case:?}: {} in `{}`", first.message, first.scope))
}

/// In CI the cases of the law on layouts, with `HALITE_LAYOUTS=all` every model on every layout, with one micro-batch and two.
fn cases() -> Vec<(Model, Ranks)> {
    if is_long() {
        let layouts: Vec<Ranks> = [1, 2].into_iter().flat_map(shapes).collect();
        return ALL_MODELS.into_iter().flat_map(|model| layouts.iter().map(move |&ranks| (model, ranks))).collect();
    }
    layouts::Case::covering().iter().map(|case| (case.model(), case.ranks)).collect()
}

#[test]
fn nothing_is_found_in_what_partition_makes() {
    let found = |case: &(Model, Ranks)| finding(case, &OnMesh::with_precision(case.0, case.1, "mixed").local);
    let found: Vec<_> = for_each(&cases(), found).into_iter().flatten().collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// In CI some cases of each kind and those that were hard, with `HALITE_LAYOUTS=all` all of them.
#[test]
fn nothing_is_found_on_more_ranks_than_are_run() {
    let some = || [many_ranks::Case::covering(40), many_ranks::Case::of_many_readings().to_vec()].concat();
    let cases = if is_long() { many_ranks::Case::all() } else { some() };
    let found = for_each(&cases, |case| finding(case, &case.local()));
    let found: Vec<_> = found.into_iter().flatten().collect();
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), cases.len(), found.join("\n"));
}
