//! The IR of a step as people read it: as long at any depth, with what calls keep beside them.

use halite::Session;
use halite::inspect::listing::Listing;
use halite_bundle::ModuleRole;

fn listing(preset: &str, settings: &[&str]) -> Listing {
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let mut session = Session::new();
    let source = session.load(preset, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    session.listing(&source, &ModuleRole::TRAIN_STEP).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn a_step_is_as_long_at_any_depth() {
    let lines = |settings: &[&str]| {
        let listing = listing("tiny", settings);
        listing.functions.iter().map(|function| (function.name.clone(), function.lines.len())).collect::<Vec<_>>()
    };
    for precision in ["precision=fp32", "precision=mixed", "precision=bf16-sr"] {
        assert_eq!(lines(&["layers=8", precision]), lines(&["layers=24", precision]), "{precision}");
    }
}

/// Two screens of the entry of HLAT's step are its layers, and no function of a model is longer than two screens of 80 lines.
#[test]
fn functions_of_the_7b_step_fit_on_screens() {
    let listing = listing("llama-7b", &[]);
    let length = |name: &str| {
        let found = listing.functions.iter().find(|function| function.name == name);
        found.unwrap_or_else(|| panic!("`@{name}` is there")).lines.len()
    };
    for block in ["block_forward", "block_backward"] {
        assert!(length(block) <= 160, "`@{block}` has {} lines", length(block));
    }
    assert!(length("main") <= 320, "`@main` has {} lines", length("main"));
}

#[test]
fn calls_say_what_they_keep() {
    let listing = listing("tiny", &["precision=fp32", "layers=4"]);
    let [entry, block, ..] = &listing.functions[..] else { panic!("{listing:?}") };
    assert_eq!((&*entry.name, entry.runs, entry.residual_bytes), ("main", 1, 0));
    assert_eq!((&*block.name, block.runs), ("block_forward", 4));
    let kept = block.lines.iter().filter(|line| line.contains("// residual")).count();
    let call = entry.lines.iter().find(|line| line.contains("call @block_forward(")).expect("the entry calls it");
    let note =
        format!("model.layers.0; keeps {} in {kept} residuals", halite_support::units::bytes(block.residual_bytes));
    assert!(call.ends_with(&note), "{call}");
    assert!(call.contains("%model.layers.0.* (6)"), "{call}");
    let folded = entry.lines.iter().find(|line| line.contains("more like it, to model.layers.3"));
    assert_eq!(folded.map(|line| line.trim()), Some("... and 3 more like it, to model.layers.3"));
    let weights = entry.lines.iter().find(|line| line.contains("%model.layers.*.mlp.down_proj.weight"));
    assert!(weights.is_some_and(|line| line.ends_with("// weight, 4 of them")), "{weights:?}");
}
