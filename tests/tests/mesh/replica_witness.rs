//! A program that ranks compute wrongly is refused with inputs that show it, at the published size and in narrow types.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_tests::forgotten_sum::ForgetSum;
use std::sync::Arc;

/// The errors of a preset where a sum over ranks is left out.
fn refusal(preset: &str, settings: &[&str]) -> String {
    let mut session = Session::new();
    session.passes.register(Arc::new(ForgetSum)).expect("no pass has its name");
    session.roles.insert_after("take-rank", "forget-sum").expect("steps on ranks take their rank");
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let source = session.load(preset, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    format!("{:?}", session.compile(&source, &options).expect_err("a sum is missing"))
}

/// In `bf16`, the loss of a step that forgets a sum is within what roundings explain.
#[test]
fn a_sum_that_is_forgotten_is_shown_in_every_precision() {
    for precision in ["fp32", "mixed", "bf16-sr"] {
        let precision = format!("precision={precision}");
        let error = refusal("tiny", &["batch=2", "seq=16", "parallel.tensor=2", &precision]);
        assert!(error.contains("E0901") && error.contains("tried: rank"), "{precision}: {error}");
    }
}

#[test]
fn a_sum_that_is_forgotten_is_shown_at_the_published_size() {
    let error = refusal("hlat-7b", &[]);
    assert!(error.contains("E0901") && error.contains("tried: rank"), "{error}");
}
