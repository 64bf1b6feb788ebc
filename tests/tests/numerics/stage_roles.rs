//! Roles that only read, on the stages of a pipeline, give what they give on one device.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::{Bundle, ModuleRole, init};
use halite_tests::pipelines::piece;
use halite_tests::quick;
use halite_train::{Generator, Inference, Request, Sampling, TrainStep};

const SETTINGS: [&str; 8] =
    ["layers=4", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=6", "precision=fp32"];

fn compile(settings: &[&str]) -> Bundle {
    let mut session = Session::new();
    let settings: Vec<String> =
        SETTINGS.iter().chain(&["batch=2", "accumulate=4"]).chain(settings).map(|set| (*set).to_owned()).collect();
    let source = session.load("tiny", &settings).unwrap();
    session.compile(&source, &CompileOptions::default()).unwrap().bundle
}

/// One device, stages, and several parts on each stage of two ranks.
fn bundles() -> [Bundle; 3] {
    let parts = ["parallel.pipeline=2", "parallel.chunks=2", "parallel.schedule=interleaved", "parallel.data=2"];
    [compile(&["batch=2"]), compile(&["parallel.pipeline=4"]), compile(&[&parts[..], &["batch=1"]].concat())]
}

#[test]
fn greedy_tokens_and_logits_of_stages_are_those_of_one() {
    let request = Request {
        prompt: vec![3, 1, 4],
        tokens: 12,
        samples: 2,
        sampling: Sampling::GREEDY,
        ends: Vec::new(),
        allowed: None,
        seed: 0,
    };
    let found = bundles().map(|bundle| {
        let state = init::initial_state(&bundle, 5).unwrap();
        let mut generator = Generator::load(quick::executor(), &bundle, state.clone()).unwrap();
        let texts = generator.generate(&request, &mut |_, _| std::ops::ControlFlow::Continue(())).unwrap();
        let mut forward = Inference::load(quick::executor(), &bundle, &ModuleRole::FORWARD, state).unwrap();
        let first = forward.run(&piece(&bundle.manifest)).unwrap();
        assert_eq!(forward.run(&piece(&bundle.manifest)).unwrap(), first, "another batch starts anew");
        (texts, first["logits"].f64s(), forward.entries().len())
    });
    let [(texts, logits, _), others @ ..] = &found;
    assert_eq!(found.iter().map(|(.., entries)| *entries).collect::<Vec<_>>(), [1, 4, 4]);
    for (own, found, _) in others {
        assert_eq!(own, texts);
        let far = logits.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(found.len() == logits.len() && far < 1e-6, "{far:e}");
    }
}

/// The evaluation that stands alone is that of the training step; another state is taken.
#[test]
fn an_evaluation_of_stages_is_that_of_their_training_step() {
    for bundle in bundles() {
        let [first, second] = [5, 6].map(|seed| init::initial_state(&bundle, seed).unwrap());
        let mut step = TrainStep::load(quick::executor(), &bundle).unwrap();
        let mut eval = Inference::load(quick::executor(), &bundle, &ModuleRole::EVAL, first).unwrap();
        let batch = piece(&bundle.manifest);
        eval.run(&batch).unwrap();
        eval.set_state(second.clone()).unwrap();
        step.set_state(second).unwrap();
        let (found, expected) = (eval.run(&batch).unwrap(), step.eval(&batch).unwrap());
        for (name, value) in expected.iter() {
            assert_eq!(found[name].f64s(), [value], "{name}");
        }
    }
}
