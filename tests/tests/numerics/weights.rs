//! Runs that start from weights alone, on CPU XLA.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::shards;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::{Metrics, TrainStep};

/// One layer of `tiny`.
fn compile(settings: &[&str]) -> Bundle {
    let mut session = Session::new();
    let all = ["layers=1", "batch=2", "seq=16"].iter().chain(settings).map(|&setting| setting.to_owned());
    let source = expect(session.load("tiny", &all.collect::<Vec<_>>()));
    expect(session.compile(&source, &CompileOptions::default())).bundle
}

fn tokens() -> HostTensor {
    HostTensor::from_ints(DType::S32, [2, 17], (0..34).map(|at| at * 37 % 251))
}

/// A step after some updates.
fn trained(bundle: &Bundle) -> TrainStep {
    let mut step = expect(TrainStep::load(xla::executor(), bundle));
    expect(step.init_state(5));
    for _ in 0..3 {
        expect(step.step(&tokens()));
    }
    step
}

fn is_zero(tensor: &HostTensor) -> bool {
    tensor.bytes().iter().all(|&byte| byte == 0)
}

/// The two steps that all of this needs are compiled once.
#[test]
fn runs_start_from_weights_alone() {
    let wide = trained(&compile(&[]));
    let narrow = trained(&compile(&["precision=bf16-sr", "precision.master=f32"]));
    own_weights_start_another_run(&wide);
    own_weights_start_another_run(&narrow);
    narrow_weights_start_a_wide_run(&narrow, &wide);
    weights_that_do_not_fit_leave_the_state_alone(wide);
}

fn own_weights_start_another_run(first: &TrainStep) {
    let weights = expect(first.weights());
    let folder = tempfile::tempdir().expect("a folder");
    shards::write(&folder.path().join("model.safetensors"), &weights, 50_000).expect("the folder is writable");
    let mut second = first.fork();
    expect(second.load_weights(folder.path()));
    assert_eq!(second.completed(), 0);
    assert!(expect(second.weights()) == weights);
    let state = expect(second.state());
    let new = first.manifest().saved().filter(|buffer| buffer.starts_as().is_none());
    let words: std::collections::BTreeSet<&str> = new.clone().map(|buffer| buffer.role.word()).collect();
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["m", "step", "v"]);
    assert!({ new }.flat_map(|buffer| buffer.tensor_names()).all(|name| is_zero(&state[&name])));
    let mut again = first.fork();
    expect(again.set_state(expect(first.state())));
    let loss = |step: &mut TrainStep| Metrics::mean_loss(&expect(step.eval(&tokens())));
    assert_eq!(loss(&mut again), loss(&mut second));
    // What a file gives is what tensors give, and the run goes on from there.
    let mut third = first.fork();
    expect(third.set_weights(weights));
    assert!(expect(third.state()) == state);
    assert_eq!(expect(second.step(&tokens())), expect(third.step(&tokens())));
    assert_eq!(second.completed(), 1);
}

fn narrow_weights_start_a_wide_run(narrow: &TrainStep, wide: &TrainStep) {
    let (narrow, mut wide) = (expect(narrow.weights()), wide.fork());
    assert!(narrow.values().any(|tensor| tensor.dtype() == DType::Bf16));
    expect(wide.set_weights(narrow.clone()));
    for (name, weight) in expect(wide.weights()) {
        assert_eq!((weight.dtype(), weight.f64s()), (DType::F32, narrow[&name].f64s()), "{name}");
    }
    expect(wide.step(&tokens()));
}

fn weights_that_do_not_fit_leave_the_state_alone(mut step: TrainStep) {
    let mut weights = expect(step.weights());
    let norm = weights.swap_remove("model.norm.weight").expect("Llama has it");
    weights.insert("model.norm.wait".to_owned(), norm);
    weights.insert("lm_head.weight".to_owned(), HostTensor::zeros(DType::F32, [3, 64]));
    let errors = step.set_weights(weights).expect_err("three do not fit");
    let messages: Vec<&str> = errors.iter().map(|error| error.message()).collect();
    let expected = [
        "the weight `model.norm.weight` is missing",
        "the weight `lm_head.weight` has the shape [3,64], the model has [256,64]",
        "the model has no weight `model.norm.wait`",
    ];
    assert_eq!(messages, expected);
    assert_eq!(errors[2].help_text(), Some("did you mean `model.norm.weight`?"));
    assert_eq!(step.completed(), 3);
    expect(step.step(&tokens()));
}
