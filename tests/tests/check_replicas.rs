//! `check-replicas` on what the compiler makes: nothing is found.

use halite_passes::replicas;
use halite_tests::meshes::{ALL_MODELS, LAYOUTS, Model, OnMesh, Ranks, shapes};

const PRECISIONS: [&str; 2] = ["fp64", "mixed"];

/// What is found in the step of one rank.
fn finding(model: Model, ranks: Ranks, precision: &str) -> Option<String> {
    let first = replicas(&OnMesh::with_precision(model, ranks, precision).local).into_iter().next()?;
    Some(format!("{model:?} {ranks:?} {precision}: {} in `{}`", first.message, first.scope))
}

/// In CI each model on every third of nine layouts, in `f64` and mixed precision by turns; with `HALITE_LAYOUTS=all` every model on every layout,
/// with one micro-batch and two, in both.
fn cases() -> Vec<(Model, Ranks, &'static str)> {
    let models = ALL_MODELS.into_iter().enumerate();
    if std::env::var("HALITE_LAYOUTS").is_ok_and(|value| value == "all") {
        let layouts = || [1, 2].into_iter().flat_map(shapes);
        let of = |(_, model)| layouts().flat_map(move |ranks| PRECISIONS.map(|precision| (model, ranks, precision)));
        return models.flat_map(of).collect();
    }
    let some = |(at, model): (usize, Model)| {
        let layouts = LAYOUTS.into_iter().enumerate().skip(at % 3).step_by(3);
        layouts.map(move |(nth, ranks)| (model, ranks, PRECISIONS[(at + nth / 3) % 2]))
    };
    models.flat_map(some).collect()
}

#[test]
fn nothing_is_found_in_what_partition_makes() {
    let found: Vec<_> =
        cases().into_iter().filter_map(|(model, ranks, precision)| finding(model, ranks, precision)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
