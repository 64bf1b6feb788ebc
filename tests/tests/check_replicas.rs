//! `check-replicas` on what the compiler makes in mixed precision: nothing is found. In `f64` each case of the law on layouts passes it.

use halite_passes::{Moves, replicas};
use halite_tests::layouts::Case;
use halite_tests::meshes::{ALL_MODELS, Model, OnMesh, Ranks, shapes};

/// What is found in the step of one rank.
fn finding((model, ranks): (Model, Ranks)) -> Option<String> {
    let first = replicas(&OnMesh::with_precision(model, ranks, "mixed").local, Moves::Written).into_iter().next()?;
    Some(format!("{model:?} {ranks:?}: {} in `{}`", first.message, first.scope))
}

/// In CI the cases of the law on layouts, with `HALITE_LAYOUTS=all` every model on every layout, with one micro-batch and two.
fn cases() -> Vec<(Model, Ranks)> {
    if std::env::var("HALITE_LAYOUTS").is_ok_and(|value| value == "all") {
        let layouts: Vec<Ranks> = [1, 2].into_iter().flat_map(shapes).collect();
        return ALL_MODELS.into_iter().flat_map(|model| layouts.iter().map(move |&ranks| (model, ranks))).collect();
    }
    Case::covering().iter().map(|case| (case.model(), case.ranks)).collect()
}

#[test]
fn nothing_is_found_in_what_partition_makes() {
    let found: Vec<_> = cases().into_iter().filter_map(finding).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
