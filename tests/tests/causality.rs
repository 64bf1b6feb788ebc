//! Every built-in model is causal, and stays so through the pipeline.

use halite::compile::CompileOptions;
use halite::pipelines;
use halite::session::Session;
use halite::source::{self, Source};
use halite_ir::Phase;
use halite_passes::{Verdict, causality};
use halite_spec::ModuleRole;
use std::collections::BTreeSet;
use std::time::Instant;

/// Proves the model of a source as it is built, and its forward module in the last phase.
fn prove(session: &Session, source: &Source) {
    let built = session.elaborate(source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let start = Instant::now();
    let verdict = causality(&built, &session.registry).unwrap();
    println!("{}: {verdict}, in {:?}", source.name, start.elapsed());
    assert_eq!(verdict, Verdict::Proven(Vec::new()), "{}", source.name);
    let role = ModuleRole::Forward;
    let pipeline = session.passes.pipeline(pipelines::pipeline(role)).unwrap();
    let options = CompileOptions::default();
    let legal = session.compile_role(&built, &source.recipe, role, &pipeline, &options);
    let legal = legal.unwrap_or_else(|error| panic!("{error}")).ir;
    assert_eq!(legal.phase, Phase::Legal);
    let start = Instant::now();
    let verdict = causality(&legal, &session.registry).unwrap();
    println!("{} in `legal`: {verdict}, in {:?}", source.name, start.elapsed());
    assert_eq!(verdict, Verdict::Proven(Vec::new()), "{} in `legal`", source.name);
}

#[test]
fn every_preset_is_causal() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/presets");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let presets: BTreeSet<String> = files.map(|path| path.file_stem().unwrap().display().to_string()).collect();
    assert!(presets.contains("hlat-7b"));
    for preset in presets {
        let mut session = Session::new();
        let source = source::load(&preset, &[], &mut session.sources).unwrap_or_else(|errors| panic!("{errors:?}"));
        prove(&session, &source);
    }
}

#[test]
fn gpt2_is_causal() {
    let mut session = Session::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/gpt2.hal");
    let settings = ["layers=2", "hidden=16", "heads=2", "vocab=32", "batch=2", "seq=8", "precision=mixed"];
    let settings = settings.map(str::to_owned);
    let source = source::load(path, &settings, &mut session.sources).unwrap_or_else(|errors| panic!("{errors:?}"));
    prove(&session, &source);
}
