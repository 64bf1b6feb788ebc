//! Verdicts on causality: a leak is what a later token changes, and what the analysis does not follow is no error.

use halite::Session;
use halite::compile::CompileOptions;
use halite_analysis::{CausalityReport, Verdict, causality};
use halite_bundle::ModuleRole;
use halite_ir::Module;
use halite_support::{Diagnostic, Severity, codes};
use std::path::Path;

/// The report of a model of `tests/right_programs`, or the error that it ends in.
fn report(model: &str, settings: &[&str]) -> Result<CausalityReport, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("right_programs").join(model);
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let mut session = Session::new();
    let source = session.load(&path.display().to_string(), &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    let compiled = session.compile(&source, &options).map_err(|errors| {
        let told = |error: &Diagnostic| error.severity() == Severity::Error && error.code() == codes::CAUSALITY;
        assert!(errors.iter().all(told), "{model}: {errors:?}");
        format!("{errors:?}")
    })?;
    Ok(compiled.causality.expect("causality was asked for"))
}

#[test]
fn causal_programs_are_not_called_leaking() {
    for model in ["causal_atan2.hal", "causal_data_index.hal"] {
        let CausalityReport { outputs, loss, .. } =
            report(model, &[]).unwrap_or_else(|error| panic!("{model}: {error}"));
        assert!(matches!((&outputs, &loss), (Verdict::Unknown(_), Verdict::Unknown(_))), "{model}: {outputs}; {loss}");
    }
    let masked = report("causal_masked_labels.hal", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((masked.outputs, masked.loss), (Verdict::Proven(vec![]), Verdict::Proven(vec![])));
}

#[test]
fn leaks_are_shown_at_any_size() {
    // Of the larger ones the interpreter runs what `verify` would make of them.
    for size in [&[][..], &["hidden=2048", "vocab=50000", "seq=512", "batch=16"]] {
        let leak = report("leaking_data_index.hal", size).unwrap_err();
        assert!(leak.contains("depends on later tokens") && leak.contains("for example, position"), "{leak}");
        let leak = report("leaking_labels.hal", size).unwrap_err();
        assert!(leak.contains("labels that they have read") && leak.contains("for example, the prediction"), "{leak}");
    }
}

/// Names of functions prove nothing about what they do, even when all are called as helpers are that round at random.
#[test]
fn names_of_functions_prove_nothing() {
    let mut judged = 0;
    for model in ["causal_data_index.hal", "causal_masked_labels.hal", "leaking_data_index.hal", "leaking_labels.hal"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("right_programs").join(model);
        let mut session = Session::new();
        let source = session.load(&path.display().to_string(), &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        let module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        judged += same_under_other_names(&module, &session);
    }
    for architecture in ["gemma2", "mamba", "mixtral", "mpt", "olmo2", "gpt_neox", "deepseek_v2"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("architectures/{architecture}.hal"));
        let mut session = Session::new();
        let source = session.load(&path.display().to_string(), &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        let module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        judged += same_under_other_names(&module, &session);
    }
    assert!(judged > 5, "{judged} functions");
}

/// Checks that a module is judged the same under other names of its functions; returns the number of these.
fn same_under_other_names(module: &Module, session: &Session) -> usize {
    let judge = |module: &Module| causality(module, &session.registry).unwrap_or_else(|error| panic!("{error}"));
    let mut renamed = module.clone();
    let entry = renamed.functions.len() - 1;
    for (at, function) in renamed.functions[..entry].iter_mut().enumerate() {
        function.name = format!("stochastic_bf16_{at}").into();
    }
    assert_eq!(judge(&renamed), judge(module), "{}", module.name);
    entry
}
