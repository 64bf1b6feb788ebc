//! `check-replicas` on what the compiler makes: nothing is found.

use halite_passes::replicas;
use halite_tests::meshes::{LAYOUTS, MODELS, Model, OnMesh, Ranks};

/// What is found in the step of one rank.
fn finding(model: Model, ranks: Ranks, precision: &str) -> Option<String> {
    let first = replicas(&OnMesh::with_precision(model, ranks, precision).local).into_iter().next()?;
    Some(format!("{model:?} {ranks:?} {precision}: {} in `{}`", first.message, first.scope))
}

/// In CI each model on every other layout in `f64` or mixed precision, with `HALITE_LAYOUTS=all` on all in both.
#[test]
fn nothing_is_found_in_what_partition_makes() {
    let all = std::env::var("HALITE_LAYOUTS").is_ok_and(|value| value == "all");
    let step = if all { 1 } else { 2 };
    let mut found = Vec::new();
    for (at, model) in MODELS.into_iter().enumerate() {
        for (nth, ranks) in LAYOUTS.into_iter().enumerate().skip(at % step).step_by(step) {
            let precisions = ["fp64", "mixed"].into_iter().enumerate();
            for (_, precision) in precisions.filter(|(own, _)| all || (at + nth / 2) % 2 == *own) {
                found.extend(finding(model, ranks, precision));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
