//! What `halite hlo check` finds in HLO of others, and that what Halite makes for a target breaks none of its rules.

use halite::compile::CompileOptions;
use halite::hlo_check::{Report, report};
use halite::session::Session;
use halite::source;
use halite_neuron::legality::Profile;
use halite_spec::Target;
use halite_support::codes;
use std::path::Path;

/// The verdict on a module that JAX made (`tests/jax/make_hlo.py`).
fn check_jax(file: &str, target: Target) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("jax/fixtures").join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let module = halite_hlo::decode(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
    report(&module, &Profile::new(target))
}

/// Names of the broken rules with how often.
fn broken(report: &Report) -> Vec<(&str, usize)> {
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    report.broken.iter().map(|rule| (rule.rule.as_str(), rule.count)).collect()
}

#[test]
fn the_step_of_a_jax_user_breaks_the_rules_that_it_should() {
    let report = check_jax("llama_step.hlo.pb", Target::Trn1);
    let expected = [
        ("element-type", 601),
        ("wide-integer", 33),
        ("variadic-reduce", 1),
        ("reduce-combiner", 1),
        ("index-range", 4),
        ("scatter-float", 2),
    ];
    assert_eq!(broken(&report), expected);
    assert!(!report.legal);
    let of = |rule: &str| {
        let found = report.broken.iter().filter(|broken| broken.rule == rule).flat_map(|broken| &broken.found);
        found.map(|found| found.what.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(of("wide-integer").contains("`s64`"), "{}", of("wide-integer"));
    assert!(of("index-range").contains("dimension 0 of `f32[64,32]`"), "the embedding: {}", of("index-range"));
    let lines = report.broken.iter().flat_map(|rule| &rule.found).flat_map(|found| &found.instructions);
    let lines: Vec<&str> = lines.map(|place| place.line.as_str()).collect();
    assert!(lines.iter().any(|line| line.starts_with("models.py:")), "{lines:?}");
}

#[test]
fn loops_that_count_are_taken_and_others_are_not() {
    let scan = check_jax("scan.hlo.pb", Target::Trn1);
    assert_eq!(broken(&scan), [], "its trips are known, and so are the positions that it reads");
    assert_eq!(broken(&check_jax("while.hlo.pb", Target::Trn1)), [("loop-trips", 1)]);
}

#[test]
fn what_halite_makes_breaks_no_rule() {
    let mixed = ["precision=mixed"].as_slice();
    let switched = ["precision=mixed-sr"].as_slice();
    for (recipe, settings) in [
        ("tiny", [].as_slice()),
        ("tiny", mixed),
        ("tiny", switched),
        ("tiny", &["precision=bf16-sr"]),
        ("hlat-7b", &[]),
        ("hlat-7b-paper", &[]),
    ] {
        for target in ["trn1", "trn2"] {
            let settings = settings.iter().copied().map(str::to_owned).chain([format!("target={target}")]);
            let settings: Vec<String> = settings.collect();
            let mut session = Session::new();
            let source = source::load(recipe, &settings, &mut session.sources).unwrap_or_else(|e| panic!("{e:?}"));
            let compiled = session.compile(&source, &CompileOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
            let mut doubts = compiled.warnings.iter().filter(|warning| warning.code() == codes::DOUBTFUL);
            assert_eq!(doubts.next(), None, "{recipe} {settings:?}");
        }
    }
}

#[test]
fn targets_that_nobody_used_are_told() {
    let mut session = Session::new();
    let settings = ["target=trn3".to_owned()];
    let source = source::load("tiny", &settings, &mut session.sources).unwrap_or_else(|e| panic!("{e:?}"));
    let compiled = session.compile(&source, &CompileOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    let untested = compiled.warnings.iter().filter(|warning| warning.message().contains("untested"));
    assert_eq!(untested.count(), 1);
}
