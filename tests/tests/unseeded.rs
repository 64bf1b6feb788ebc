//! Models whose dimensions no family names, compiled to the last pass: what the ranks compute together is what one device computes.

use halite::pipelines::train_step;
use halite_tensor::compare::difference;
use halite_tests::meshes::{LAYOUTS, Loaded, Model, Ranks, entry, settings};
use halite_tests::stepping::{advance, first_inputs};

const MODELS: [Model; 10] = [
    ("../tests/data/dropout.hal", &["vocab=32", "seq=4"]),
    ("../tests/data/labelled.hal", &[]),
    ("../tests/data/masked.hal", &["vocab=32"]),
    ("../tests/data/mixtral.hal", &["vocab=32", "hidden=16", "layers=1", "ffn=12", "experts=4", "seq=4"]),
    ("../tests/data/parallel_block.hal", &["vocab=32"]),
    ("../tests/data/retention.hal", &[]),
    ("../tests/data/shared_layers.hal", &["vocab=32"]),
    ("../tests/data/spelled.hal", &["vocab=32", "hidden=16", "layers=2", "heads=4", "kv_heads=2", "ffn=24", "seq=4"]),
    ("../tests/data/two_heads.hal", &[]),
    ("../tests/data/unscoped.hal", &["vocab=32"]),
];

/// What of the forward is computed again.
const RECOMPUTE: [&str; 3] = ["recompute=['none']", "recompute=['attention', 'activation']", "recompute=['block']"];

/// After each of these updates in `f64`, with a clip that bites, the ranks, through all passes, have what one device has right before it is partitioned.
fn check(model: Model, ranks: Ranks, recompute: &str, updates: usize) {
    let name = format!("{} {ranks:?} {recompute}", model.0);
    let mut settings = settings(ranks, "fp64");
    settings.push(recompute.to_owned());
    let loaded = Loaded::new(model, &settings);
    let pipeline = train_step().to_string();
    let (before, after) = pipeline.split_once("partition, ").expect("it partitions");
    let whole = loaded.made(before.trim_end_matches(", "));
    let local = loaded.after(whole.clone(), &format!("partition, {after}"));
    let mut alone = first_inputs(entry(&whole), 32);
    let mut together = alone.clone();
    for update in 0..updates {
        let expected = loaded.alone(&whole, &alone).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = loaded.on_ranks(&local, &together).unwrap_or_else(|error| panic!("{name}: {error}"));
        for ((result, expected), found) in entry(&whole).results.iter().zip(&expected).zip(&found) {
            let far = difference(found, expected).relative();
            assert!(far < 1e-9, "{name}: `{}` is {far} off in update {update}", result.name);
        }
        advance(entry(&whole), &mut alone, expected);
        advance(entry(&whole), &mut together, found);
    }
}

/// In CI each model on some layouts, and each layout with some models, for two updates; with `HALITE_LAYOUTS=all` everything on everything, for five.
#[test]
fn ranks_compute_what_one_device_computes() {
    let all = std::env::var("HALITE_LAYOUTS").is_ok_and(|value| value == "all");
    for (at, model) in MODELS.into_iter().enumerate() {
        for (of, layout) in LAYOUTS.into_iter().enumerate() {
            for (how, recompute) in RECOMPUTE.into_iter().enumerate() {
                if all || ((at + of) % 3 == 0 && how == (at + of / 3) % 3) {
                    check(model, layout, recompute, if all { 5 } else { 2 });
                }
            }
        }
    }
}
