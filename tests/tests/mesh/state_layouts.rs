//! States across layouts: what one layout saves another goes on from, and a file does not tell which layout wrote it.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{ModuleRole, init};
use halite_passes::PipelineSpec;
use halite_support::{Diagnostic, codes};
use halite_tensor::compare::difference;
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_tests::texts;
use halite_train::{Observer, Record, RunFiles, Start, TrainOptions, train};
use std::path::Path;

/// Two layers with fewer key heads than some layouts have ranks, and a vocabulary that ranks do not divide.
const SIZES: [&str; 8] =
    ["layers=2", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=257", "seq=8", "optimizer.adamw.lr=0.01"];

/// Sequences of an update.
const SEQUENCES: usize = 4;

/// Updates on each layout, one after another.
const UPDATES: u64 = 3;

/// The relative tolerance of values against those of the run on one device.
const APART: f64 = 1e-9;

/// `data`, `tensor`, `sequence`, `zero`: from one device through all others and back to it.
const LAYOUTS: [(usize, usize, bool, usize); 6] =
    [(1, 1, false, 0), (1, 2, true, 0), (1, 4, false, 0), (2, 2, false, 1), (4, 1, false, 1), (1, 1, false, 0)];

fn settings((data, tensor, sequence, zero): (usize, usize, bool, usize)) -> Vec<String> {
    vec![
        format!("batch={}", SEQUENCES / data),
        format!("parallel.data={data}"),
        format!("parallel.tensor={tensor}"),
        format!("parallel.sequence={sequence}"),
        format!("parallel.zero={zero}"),
    ]
}

fn compile_in(session: &mut Session, layout: &[String], more: &[&str]) -> Bundle {
    let all = SIZES.iter().chain(more).map(|&setting| setting.to_owned()).chain(layout.iter().cloned());
    let source = expect(session.load("tiny", &all.collect::<Vec<_>>()));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    expect(session.compile(&source, &options)).bundle
}

fn compile(layout: &[String], more: &[&str]) -> Bundle {
    compile_in(&mut Session::new(), layout, more)
}

/// The warnings that an observer got.
#[derive(Default)]
struct Warnings(Vec<Diagnostic>);

impl Observer for Warnings {
    fn warned(&mut self, warning: &Diagnostic) {
        self.0.push(warning.clone());
    }
}

/// Trains up to `steps` into a folder, from the state that is there after the first ones; what it is warned of.
fn go_on(bundle: &Bundle, folder: &Path, steps: u64) -> Vec<Diagnostic> {
    let files = RunFiles::new(folder);
    let start = if files.state().is_file() { Start::State(files.state()) } else { Start::Seed };
    let options = TrainOptions { steps, seed: 3, start, ..TrainOptions::default() };
    let mut warnings = Warnings::default();
    expect(train(xla::executor(), bundle, &texts::book(bundle), &options, &files, &mut warnings));
    warnings.0
}

fn state(folder: &Path) -> Tensors {
    tensors::read(&RunFiles::new(folder).state()).unwrap_or_else(|error| panic!("{error}"))
}

/// Names, element types and shapes.
fn described(tensors: &Tensors) -> Vec<String> {
    tensors.iter().map(|(name, tensor)| format!("{name}: {}{}", tensor.dtype(), tensor.shape())).collect()
}

fn record(folder: &Path) -> Record {
    let record = Record::read(&RunFiles::new(folder).state()).unwrap_or_else(|error| panic!("{error}"));
    record.expect("a run says what made it")
}

#[test]
fn a_run_goes_from_layout_to_layout_as_if_it_stayed_on_one_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let moving = folder.path().join("moving");
    let alone = compile(&settings(LAYOUTS[0]), &["precision=fp64"]);
    let mut last = None;
    for (layout, leg) in LAYOUTS.into_iter().zip(1..) {
        let bundle = compile(&settings(layout), &["precision=fp64"]);
        assert_eq!(bundle.manifest.mesh.num_ranks(), layout.0 * layout.1);
        let whole = folder.path().join(format!("whole-{leg}"));
        assert!(go_on(&alone, &whole, leg * UPDATES).is_empty());
        let told = go_on(&bundle, &moving, leg * UPDATES);
        let codes: Vec<_> = told.iter().map(Diagnostic::code).collect();
        let expected = if last.is_some_and(|last| last != layout) { vec![codes::OTHER_LAYOUT] } else { vec![] };
        assert_eq!(codes, expected, "{told:?}");
        let (found, expected) = (state(&moving), state(&whole));
        assert_eq!(described(&found), described(&expected), "{layout:?}");
        assert!(found.contains_key("m.model.layers.0.self_attn.k_proj.weight"));
        let of = |(name, tensor): (&String, _)| difference(tensor, &expected[name]).relative();
        let apart = found.iter().map(of).fold(0.0, f64::max);
        println!("{layout:?}: at most {apart:e} from one device after {} updates", leg * UPDATES);
        assert!(apart < APART, "{layout:?}: {apart:e}");
        assert_eq!(record(&moving) == record(&whole), layout == LAYOUTS[0]);
        last = Some(layout);
    }
}

/// A session whose steps store each weight on its own.
fn without_coalescing() -> Session {
    let mut session = Session::new();
    let all = session.roles.get(&ModuleRole::TRAIN_STEP).expect("it is built in").pipeline.to_string();
    let apart = all.replace("coalesce-layers, ", "");
    assert_ne!(apart, all);
    let apart = apart.parse::<PipelineSpec>().unwrap_or_else(|error| panic!("{error}"));
    session.roles.set_pipeline(&ModuleRole::TRAIN_STEP, apart).expect("it is built in");
    session
}

/// Whatever is stored together, for whichever ranks and target: the file of the initial state is the same.
#[test]
fn initial_states_are_equal_to_the_byte() {
    let precisions = [&["precision=fp32"][..], &["precision=bf16-sr", "precision.master=f32", "optimizer.ema=0.9"]];
    for precision in precisions {
        let bytes = |bundle: &Bundle| {
            let state = expect(init::initial_state(bundle, 11));
            tensors::to_bytes(&state, None).unwrap_or_else(|error| panic!("{error}"))
        };
        let merged = |bundle: &Bundle| bundle.manifest.buffers.iter().filter(|buffer| buffer.packing.is_some()).count();
        let alone = compile(&settings(LAYOUTS[0]), precision);
        let (expected, mut counts) = (bytes(&alone), vec![merged(&alone)]);
        for layout in &LAYOUTS[1..5] {
            let bundle = compile(&settings(*layout), precision);
            assert!(bytes(&bundle) == expected, "{layout:?}");
            counts.push(merged(&bundle));
        }
        let neuron = compile(&settings((1, 1, false, 0)), &[precision, &["target=trn1"]].concat());
        assert!(bytes(&neuron) == expected, "trn1");
        let apart = compile_in(&mut without_coalescing(), &settings(LAYOUTS[0]), precision);
        assert!(bytes(&apart) == expected && merged(&apart) == 0, "stored apart");
        assert!(counts[0] > 0 && counts.iter().any(|count| *count != counts[0]), "{counts:?}");
    }
}
