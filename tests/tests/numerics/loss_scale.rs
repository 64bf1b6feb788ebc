//! The scale of the loss: what it keeps in `f16`, what it leaves alone, and how it moves.

use halite::Session;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, init};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::{Metrics, TrainStep};

/// The updates in a row after which a scale is doubled.
const INTERVAL: usize = 3;

fn compile(more: &[&str]) -> Bundle {
    let mut session = Session::new();
    let stated = ["layers=1", "batch=2", "seq=16"];
    let settings: Vec<String> = stated.iter().chain(more).map(ToString::to_string).collect();
    let source = expect(session.load("tiny", &settings));
    expect(session.compile(&source, &Default::default())).bundle
}

fn load(bundle: &Bundle) -> (TrainStep, Tensors) {
    (expect(TrainStep::load(xla::executor(), bundle)), expect(init::initial_state(bundle, 3)))
}

/// A step in `f16` whose scale starts at 256, with its first state.
fn dynamic(more: &[&str]) -> (TrainStep, Tensors) {
    let scale = format!("loss_scale={{ initial = 256, interval = {INTERVAL}, min = 64 }}");
    load(&compile(&[&["precision=fp16", &scale], more].concat()))
}

fn batch(update: usize, rows: usize) -> HostTensor {
    HostTensor::from_ints(DType::S32, [rows, 17], (0..rows * 17).map(|at| ((at * 7 + update * 13) % 96) as i128))
}

/// The same state with this value in all elements of a weight, a third of them with the other sign.
fn with(state: &Tensors, weight: &str, value: f64) -> Tensors {
    let mut state = state.clone();
    let tensor = state.get_mut(weight).expect("a weight");
    let values = (0..tensor.len()).map(|at| if at % 3 == 0 { value } else { -value });
    *tensor = HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), values);
    state
}

fn scale(metrics: &Metrics) -> f64 {
    metrics.get("loss_scale").expect("a metric of dynamic scales")
}

fn same(before: &Tensors, after: &Tensors, but: &[&str]) -> bool {
    let mut kept = before.keys().filter(|name| !but.contains(&name.as_str()));
    kept.all(|name| before[name].bytes() == after[name].bytes())
}

#[test]
fn an_overflow_is_skipped_and_halves_the_scale() {
    for form in ["one", "two"] {
        let accumulate = format!("accumulate={{ steps = 2, form = \"{form}\" }}");
        for (more, rows) in [(&[][..], 2), (&[accumulate.as_str()][..], 4)] {
            let (mut step, good) = dynamic(more);
            let bad = with(&good, "lm_head.weight", 1e4);
            expect(step.set_state(bad.clone()));
            let found = [0, 1].map(|update| expect(step.step(&batch(update, rows))));
            assert_eq!(found.each_ref().map(scale), [256.0, 128.0], "{form}");
            assert!(found.iter().all(|metrics| !metrics.are_finite()), "{form}");
            assert_eq!((step.completed(), step.attempted()), (0, 2), "{form}");
            let after = expect(step.state());
            assert!(same(&bad, &after, &["attempts", "scaler"]), "{form}: state changed");
            assert_eq!(after["scaler"].f64s(), [64.0], "{form}");

            // With weights as they should be, it recovers after the interval, and goes on to grow.
            let mended = Tensors::from_iter(good.iter().map(|(name, tensor)| {
                let keeps = ["attempts", "scaler"].contains(&name.as_str());
                (name.clone(), if keeps { after[name].clone() } else { tensor.clone() })
            }));
            expect(step.set_state(mended));
            let scales = [0; 2 * INTERVAL + 1].map(|_| scale(&expect(step.step(&batch(0, rows)))));
            assert_eq!(scales, [64.0, 64.0, 64.0, 128.0, 128.0, 128.0, 256.0], "{form}");
            assert_eq!((step.completed(), step.attempted()), (7, 9), "{form}");
            assert!(!same(&good, &expect(step.state()), &["attempts", "scaler", "step"]), "nothing was updated");
        }
    }
}

/// At its least the scale has nothing to find, and the recipe's policy says what happens.
#[test]
fn the_least_scale_is_the_end() {
    for (policy, ends) in [("stop", true), ("skip", false)] {
        let (mut step, good) = dynamic(&["loss_scale.initial=128", &format!("nonfinite={policy}")]);
        let bad = with(&good, "lm_head.weight", 1e4);
        expect(step.set_state(bad.clone()));
        assert_eq!(scale(&expect(step.step(&batch(0, 2)))), 128.0, "{policy}");
        match step.step(&batch(1, 2)) {
            Ok(metrics) => assert!(!ends && scale(&metrics) == 64.0, "{policy}"),
            Err(errors) => {
                let text = format!("{errors:?}");
                assert!(ends && text.contains("update 2 is not finite") && text.contains("loss_scale.min"), "{text}");
            }
        }
        assert_eq!((step.completed(), step.attempted()), (0, 2), "{policy}");
        assert!(same(&bad, &expect(step.state()), &["attempts", "scaler"]), "{policy}: state changed");
    }
}

/// Updates in a row are counted anew after one that was skipped.
#[test]
fn an_overflow_starts_the_interval_anew() {
    let (mut step, good) = dynamic(&[]);
    expect(step.set_state(good.clone()));
    let run = |step: &mut TrainStep| scale(&expect(step.step(&batch(0, 2))));
    assert_eq!([run(&mut step), run(&mut step)], [256.0; 2]);
    let before = expect(step.state());
    assert_eq!(before["scaler_steps"].ints(), [2]);
    expect(step.set_state(with(&before, "lm_head.weight", 1e4)));
    assert_eq!(run(&mut step), 256.0);
    let skipped = expect(step.state());
    assert_eq!((skipped["scaler_steps"].ints(), skipped["scaler"].f64s()), (vec![0], vec![128.0]));
}

/// Everything that is multiplied by a scale is divided by it: compared in `f64`, where XLA rounds by little, as it contracts products
/// and sums otherwise.
#[test]
fn a_scale_changes_nothing_else() {
    let run = |more: &[&str]| {
        let (mut step, state) = load(&compile(&[&["precision=fp64"], more].concat()));
        expect(step.set_state(state));
        let losses = [0, 1, 2].map(|update| expect(step.step(&batch(update, 2))).loss());
        let state = expect(step.state()).into_iter().map(|(name, tensor)| (name, tensor.f64s()));
        state.chain([("loss".to_owned(), losses.to_vec())]).collect::<Vec<_>>()
    };
    for ((name, found), (_, expected)) in run(&["loss_scale=4096"]).into_iter().zip(run(&[])) {
        let size = expected.iter().fold(0f64, |size, x| size.max(x.abs()));
        let off = found.iter().zip(&expected).fold(0f64, |off, (x, y)| off.max((x - y).abs()));
        assert!(off <= 1e-11 * size, "{name}: off by {off:e} of {size:e}");
    }
}

/// Both forms of accumulation add the same scaled gradients.
#[test]
fn both_forms_write_the_same_bits() {
    let run = |form: &str| {
        let (mut step, state) = dynamic(&[&format!("accumulate={{ steps = 2, form = \"{form}\" }}")]);
        expect(step.set_state(state));
        (0..4).for_each(|update| {
            expect(step.step(&batch(update, 4)));
        });
        expect(step.state())
    };
    assert_eq!(run("one"), run("two"));
}

/// The purpose of a scale: cotangents below 6e-8, the least number of `f16`, become gradients.
#[test]
fn small_gradients_survive() {
    let moved = |scale: &str| {
        let (mut step, state) = load(&compile(&["precision=fp16", scale]));
        // What flows back through the last norm is as small as its weights are.
        expect(step.set_state(with(&state, "model.norm.weight", 1e-9)));
        expect(step.step(&batch(0, 2)));
        let moments = &expect(step.state())["m.model.layers.0.mlp.down_proj.weight"];
        moments.f64s().into_iter().filter(|m| *m != 0.0).count()
    };
    let [none, scaled] = ["loss_scale=1", "loss_scale=65536"].map(moved);
    assert!(none * 10 < scaled, "{none} elements of a moment without a scale, {scaled} with one");
}
