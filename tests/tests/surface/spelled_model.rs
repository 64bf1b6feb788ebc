//! A model that spells composites out becomes the one that names them.

use halite::Session;
use halite::source::Source;
use halite_ir::{Module, fingerprint};
use halite_passes::{Runner, RunnerOptions};
use halite_test_kit::xla;
use halite_verify::VerifyOptions;
use std::path::Path;

/// The recipe of a small Llama.
fn load(model: &str, session: &mut Session) -> Source {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recipe.toml");
    let config = "{ vocab = 32, hidden = 16, layers = 2, heads = 4, kv_heads = 2, ffn = 24, rope_theta = 500000.0 }";
    let text = format!(
        "halite = 1\nbatch = 2\nseq = 8\nmodel.name = \"{model}\"\nmodel.config = {config}\noptimizer.sgd.lr = 0.1\n"
    );
    std::fs::write(&path, &text).expect("the folder can be written");
    let source = session.load(path.to_str().expect("the path is text"), &[]);
    source.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// The path of the model that spells composites out.
fn spelled() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/spelled.hal");
    path.to_str().expect("the path is text").to_owned()
}

/// The module of a small Llama after the passes that recognize composites.
fn recognized(model: &str) -> Module {
    let mut session = Session::new();
    let source = load(model, &mut session);
    let mut module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let pipeline = session.passes.pipeline(&halite::pipelines::prepare()).expect("the passes exist");
    let cx = session.pass_cx(Some(&source.recipe), None).expect("the target is known");
    let ran = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
    ran.unwrap_or_else(|error| panic!("{error:?}"));
    module
}

#[test]
fn a_spelled_llama_is_llama() {
    let spelled = recognized(&spelled());
    let named = recognized("llama");
    let composites = |module: &Module| {
        let ops = module.functions.iter().flat_map(|function| &function.insts).map(|inst| inst.op.name().to_owned());
        ops.collect::<Vec<_>>()
    };
    assert_eq!(composites(&spelled), composites(&named));
    assert_eq!(fingerprint(&spelled), fingerprint(&named));
}

/// The reference of verification is the model in `f64`, although it states `f32` here and there.
#[test]
fn a_spelled_llama_verifies() {
    let mut session = Session::new();
    let source = load(&spelled(), &mut session);
    let report = halite_verify::verify(&session, &source, &VerifyOptions::default(), xla::executor());
    let report = report.unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(report.passed(), "{report:#?}");
    assert!(report.rows.len() > 10);
}
