//! A mask that a model takes as an input and declares causal: the compiler counts on it, and no run takes another.

use halite::compile::CompileOptions;
use halite::source::Source;
use halite::{Bundle, Session};
use halite_bundle::ModuleRole;
use halite_bundle::tensors::Tensors;
use halite_ir::text::print;
use halite_ir::{FuncId, Registry};
use halite_passes::{PassCx, PassRegistry, Runner, RunnerOptions};
use halite_support::Diagnostics;
use halite_tensor::{DType, HostTensor, Shape, causal_mask};
use halite_test_kit::xla;
use halite_tests::compiled::stored_state;
use halite_tests::texts;
use halite_train::{LoadedModule, RunFiles, Silent, TrainOptions, train};
use halite_verify::VerifyOptions;
use std::path::Path;

fn load(session: &mut Session) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/masked.hal");
    let path = path.to_str().expect("the path is text");
    let settings = ["precision=fp32", "batch=2", "seq=8"].map(str::to_owned);
    session.load(path, &settings).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn bundle() -> Bundle {
    let mut session = Session::new();
    let source = load(&mut session);
    session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}")).bundle
}

/// Logits on a mask.
fn forward(bundle: &Bundle, mask: HostTensor) -> Result<HostTensor, Diagnostics> {
    let entry = bundle.module_with_role(&ModuleRole::FORWARD).expect("the bundle has it");
    let module = LoadedModule::load(xla::client(), bundle, entry).unwrap_or_else(|error| panic!("{error}"));
    let mut inputs = stored_state(bundle, 1);
    inputs.insert("tokens".to_owned(), HostTensor::from_ints(DType::S32, [2, 9], (0..18).map(|token| token * 7)));
    inputs.insert("mask".to_owned(), mask);
    let is_read = |name: &String| entry.inputs.iter().any(|port| port.name == *name);
    let inputs: Tensors = inputs.into_iter().filter(|(name, _)| is_read(name)).collect();
    Ok(module.run(xla::client(), inputs)?.swap_remove("logits").expect("the model shows them"))
}

#[test]
fn the_mask_is_not_read() {
    let (mut session, registry) = (Session::new(), Registry::builtin());
    let source = load(&mut session);
    let mut module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let pipeline = PassRegistry::builtin().parse("fold-causal-mask, dce").unwrap_or_else(|error| panic!("{error}"));
    let cx = PassCx::new(&registry);
    Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx).unwrap_or_else(|error| panic!("{error}"));
    let main = module.function(FuncId::new(0));
    let mask = main.params[1].value;
    assert!(main.insts.iter().all(|inst| !inst.args.contains(&mask)), "{}", print(&module));
}

#[test]
fn runs_take_the_causal_mask_and_no_other() {
    let bundle = bundle();
    let causal = causal_mask(&Shape::from([2, 8, 8]));
    let logits = forward(&bundle, causal.clone()).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(logits.f64s().iter().all(|logit| logit.is_finite()));
    let mut elements = causal.ints();
    elements[64 + 8 * 3 + 4] = 1;
    let errors = forward(&bundle, HostTensor::from_ints(DType::Pred, [2, 8, 8], elements)).unwrap_err();
    let message = "the mask `mask` is not causal: its element [1, 3, 4] is true, expected false";
    assert_eq!(errors.iter().map(halite_support::Diagnostic::message).collect::<Vec<_>>(), [message]);
}

#[test]
fn training_and_verification_feed_it() {
    let bundle = bundle();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text.txt");
    std::fs::write(&text, b"the quick brown fox jumps over the lazy dog; ".repeat(20)).expect("a file");
    let options = TrainOptions {
        title: "masked".to_owned(),
        steps: 3,
        seed: 0,
        eval_every: 0,
        eval_batches: 2,
        ..TrainOptions::default()
    };
    let files = RunFiles::new(folder.path());
    let history = train(xla::executor(), &bundle, &texts::text(&bundle, &text, 0.2), &options, &files, &mut Silent);
    assert_eq!(history.unwrap_or_else(|errors| panic!("{errors:?}")).steps.len(), 3);
    let state = halite_bundle::tensors::read(&files.state()).unwrap_or_else(|error| panic!("{error}"));
    assert!(!state.contains_key("mask"), "what is declared is no state");
    let mut session = Session::new();
    let source = load(&mut session);
    let options = VerifyOptions { full: true, ..VerifyOptions::default() };
    let report = halite_verify::verify(&session, &source, &options, xla::executor())
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(report.passed(), "{report:?}");
}
