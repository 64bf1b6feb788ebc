//! Every built-in model is causal, and stays so through the pipeline.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_analysis::{Verdict, causality};
use halite_bundle::ModuleRole;
use halite_ir::Module;
use std::collections::BTreeSet;
use std::time::Instant;

fn load(name: &str, settings: &[&str]) -> (Session, Source) {
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let source = session.load(name, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    (session, source)
}

/// Proves a module without any assumption, and says how long it took.
fn prove(session: &Session, module: &Module) -> String {
    let start = Instant::now();
    let verdict = causality(module, &session.registry).unwrap_or_else(|error| panic!("{error}")).outputs;
    let time = start.elapsed();
    assert_eq!(verdict, Verdict::Proven(Vec::new()), "{} in `{}`", module.name, module.phase);
    format!("{} in `{}`: {verdict} in {time:?}", module.name, module.phase)
}

/// The model of a source as it is built, and its forward module in the last phase.
fn modules(session: &Session, source: &Source) -> [Module; 2] {
    let built = session.elaborate(source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let role = &ModuleRole::FORWARD;
    let pipeline = session.pipeline(role).unwrap_or_else(|error| panic!("{error}"));
    let legal = session.compile_role(&built, &source.recipe, role, &pipeline, &CompileOptions::default());
    [built, legal.unwrap_or_else(|error| panic!("{error}")).ir]
}

#[test]
fn every_preset_is_causal() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/presets");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let presets: BTreeSet<String> = files.map(|path| path.file_stem().unwrap().display().to_string()).collect();
    assert!(presets.contains("hlat-7b"));
    for preset in presets {
        // The program of one rank of several, which holds a part of the vocabulary, is no more what it was proven of.
        let (session, source) =
            load(&preset, &["parallel.data=1", "parallel.tensor=1", "parallel.pipeline=1", "parallel.sequence=false"]);
        for module in modules(&session, &source) {
            println!("{preset}: {}", prove(&session, &module));
        }
    }
}

#[test]
fn gpt2_is_causal() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/gpt2.hal");
    let settings = ["layers=2", "hidden=16", "heads=2", "vocab=32", "batch=2", "seq=8", "precision=mixed"];
    let (session, source) = load(path, &settings);
    for module in modules(&session, &source) {
        println!("{}", prove(&session, &module));
    }
}
