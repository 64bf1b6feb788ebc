//! Updates whose gradients are not finite: skipped, or made and then an error.

use halite::Session;
use halite_bundle::init;
use halite_bundle::tensors::Tensors;
use halite_support::{Diagnostic, codes};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;

const PRECISIONS: [&str; 5] = ["fp32", "mixed", "mixed-sr", "bf16-sr", "fp64"];

fn load(precision: &str, policy: &str, more: &[&str]) -> (TrainStep, Tensors) {
    let mut session = Session::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/labelled.hal");
    let stated = ["batch=2", "optimizer.adamw.clip_norm=0.5", "optimizer.adamw.weight_decay=0.1"];
    let policy = format!("nonfinite={policy}");
    let precision = format!("precision={precision}");
    let settings = stated.iter().copied().chain([policy.as_str(), precision.as_str()]).chain(more.iter().copied());
    let source = expect(session.load(path, &settings.map(str::to_owned).collect::<Vec<_>>()));
    let bundle = expect(session.compile(&source, &Default::default())).bundle;
    let state = expect(init::initial_state(&bundle, 3));
    (expect(TrainStep::load(xla::executor(), &bundle)), state)
}

/// A batch; without labels that count, if so asked.
fn batch(rows: usize, counts: bool) -> Tensors {
    let tokens = HostTensor::from_ints(DType::S32, [rows, 6], (0..rows * 6).map(|at| (at * 7 % 32) as i128));
    let labels = (0..rows * 6).map(|at| if counts { (at * 5 % 32) as i128 } else { -100 });
    let labels = HostTensor::from_ints(DType::S32, [rows, 6], labels);
    Tensors::from_iter([("tokens".to_owned(), tokens), ("labels".to_owned(), labels)])
}

/// The same state with this value in all elements of a weight and its wider copies.
fn with(state: &Tensors, weight: &str, value: f64) -> Tensors {
    let mut state = state.clone();
    for name in [weight.to_owned(), format!("master.{weight}")] {
        if let Some(tensor) = state.get_mut(&name) {
            let values = vec![value; tensor.len()];
            *tensor = HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), values);
        }
    }
    state
}

fn same_but_attempts(before: &Tensors, after: &Tensors) -> bool {
    let kept = |name: &&String| *name != "attempts";
    before.keys().filter(kept).all(|name| before[name].bytes() == after[name].bytes())
}

/// Values of weights that make a gradient that is not finite.
const BAD: [(&str, f64); 3] = [("head", f64::INFINITY), ("head", f64::NAN), ("scale", f64::NAN)];

#[test]
fn what_is_not_finite_is_skipped_to_the_bit() {
    for precision in PRECISIONS {
        let (mut step, good) = load(precision, "skip", &[]);
        for (weight, value) in BAD {
            let bad = with(&good, weight, value);
            expect(step.set_state(bad.clone()));
            for attempts in 1..=2 {
                let metrics = expect(step.step(&batch(2, true)));
                assert!(!metrics.are_finite(), "{precision}, {weight} = {value}");
                assert_eq!((step.completed(), step.attempted()), (0, attempts), "{precision}, {weight} = {value}");
            }
            let after = expect(step.state());
            assert!(same_but_attempts(&bad, &after), "{precision}, {weight} = {value}: state changed");
            assert_eq!(after["attempts"].ints(), [2]);
        }
        // A good update after that is made, and a batch without labels is one.
        expect(step.set_state(good.clone()));
        for (counts, completed) in [(true, 1), (false, 2)] {
            let metrics = expect(step.step(&batch(2, counts)));
            assert!(metrics.are_finite(), "{precision}");
            assert_eq!((step.completed(), step.attempted()), (completed, completed), "{precision}");
        }
        assert!(!same_but_attempts(&good, &expect(step.state())), "{precision}: nothing was updated");
    }
}

/// The error of an update that was made although it is not finite.
fn stopped(step: &mut TrainStep) -> Diagnostic {
    let errors = step.step(&batch(2, true)).expect_err("the update is not finite");
    assert_eq!(errors.len(), 1, "{errors}");
    assert_eq!(errors[0].code(), codes::DIVERGED);
    errors[0].clone()
}

/// Without the policy the update is made, and then it is an error that says what was found; nothing is counted twice.
#[test]
fn what_is_not_finite_is_an_error() {
    for precision in PRECISIONS {
        let (mut step, good) = load(precision, "stop", &[]);
        assert!(!good.contains_key("attempts"));
        for (weight, value) in BAD {
            expect(step.set_state(with(&good, weight, value)));
            for update in 1..=2 {
                let error = stopped(&mut step);
                let found = format!("update {update} is not finite: `loss` is NaN, `grad_norm` is NaN");
                assert_eq!(error.message(), found, "{precision}, {weight} = {value}");
                assert!(error.notes().iter().any(|note| note.contains("load the last one that was saved")));
                assert!(error.help_text().is_some_and(|help| help.contains("`nonfinite = \"skip\"`")));
                assert_eq!((step.completed(), step.attempted()), (update, update));
                assert_eq!(expect(step.state())["step"].ints(), [i128::from(update)]);
            }
        }
        expect(step.set_state(good.clone()));
        assert!(expect(step.step(&batch(2, false))).are_finite(), "{precision}: a batch without labels");
    }
}

/// Gradients that are numbers, and a norm of them that is none: the clip by it would make all of them zero.
#[test]
fn a_norm_that_overflows_is_not_finite() {
    for precision in ["fp32", "mixed", "bf16-sr"] {
        let (mut step, good) = load(precision, "skip", &[]);
        // Normalized activations of this size have gradients whose squares are beyond `f32`.
        let large = with(&good, "scale", 1e25);
        expect(step.set_state(large.clone()));
        let metrics = expect(step.step(&batch(2, true)));
        let (loss, norm) = (metrics.loss(), metrics.get("grad_norm").expect("a metric"));
        assert!(loss.is_finite() && !norm.is_finite(), "{precision}: loss {loss}, norm {norm}");
        assert!(same_but_attempts(&large, &expect(step.state())), "{precision}");
        let (mut step, _) = load(precision, "stop", &[]);
        let shared = large.into_iter().filter(|(name, _)| name != "attempts").collect();
        expect(step.set_state(shared));
        assert_eq!(stopped(&mut step).message(), "update 1 is not finite: `grad_norm` is inf", "{precision}");
    }
}

/// Micro-batches are skipped together, and stop together.
#[test]
fn one_bad_micro_batch_skips_the_update() {
    for form in ["one", "two"] {
        let more = ["accumulate.steps=2".to_owned(), format!("accumulate.form=\"{form}\"")];
        let (mut step, good) = load("mixed", "skip", &[&more[0], &more[1]]);
        expect(step.set_state(with(&good, "head", f64::NAN)));
        assert!(!expect(step.step(&batch(4, true))).are_finite(), "{form}");
        assert_eq!((step.completed(), step.attempted()), (0, 1), "{form}");
        expect(step.set_state(good.clone()));
        assert!(expect(step.step(&batch(4, true))).are_finite(), "{form}");
        assert_eq!(step.completed(), 1, "{form}");
        let (mut step, good) = load("mixed", "stop", &[&more[0], &more[1]]);
        expect(step.set_state(with(&good, "head", f64::NAN)));
        let error = step.step(&batch(4, true)).expect_err("the update is not finite");
        assert!(error[0].message().starts_with("update 1 is not finite"), "{form}: {error}");
    }
}
