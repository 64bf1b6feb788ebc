//! Metrics and further losses of a model: over micro-batches and ranks they are those of one batch.

use halite::Session;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, init};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::{Metrics, TrainStep};

/// Sequences of an update.
const SEQUENCES: usize = 4;

/// Labels that count in each of them, of each update.
const COUNTS: [[usize; SEQUENCES]; 4] = [[6; SEQUENCES], [6; SEQUENCES], [0, 6, 1, 3], [0; SEQUENCES]];

fn compile(more: &[&str]) -> Bundle {
    let mut session = Session::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/reported.hal");
    let settings: Vec<String> =
        ["precision=fp64", "optimizer.adamw.lr=0.3"].iter().chain(more).map(ToString::to_string).collect();
    let source = expect(session.load(path, &settings));
    expect(session.compile(&source, &Default::default())).bundle
}

fn batch(update: usize) -> Tensors {
    let token = |at: usize| (at * 7 % 32) as i128;
    let tokens = HostTensor::from_ints(DType::S32, [SEQUENCES, 6], (0..SEQUENCES * 6).map(token));
    let label = |at: usize| if at % 6 < COUNTS[update][at / 6] { token(at + 1) } else { -100 };
    let labels = HostTensor::from_ints(DType::S32, [SEQUENCES, 6], (0..SEQUENCES * 6).map(label));
    Tensors::from_iter([("tokens".to_owned(), tokens), ("labels".to_owned(), labels)])
}

/// The state after all updates, and the metrics of each.
fn run(bundle: &Bundle) -> (Tensors, Vec<Metrics>) {
    let mut step = expect(TrainStep::load(xla::executor(), bundle));
    expect(step.set_state(expect(init::initial_state(bundle, 3))));
    let metrics = (0..COUNTS.len()).map(|update| expect(step.step(&batch(update)))).collect();
    (expect(step.state()), metrics)
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-3), "{what}: {found} is not {expected}");
}

#[track_caller]
fn assert_same(found: &(Tensors, Vec<Metrics>), expected: &(Tensors, Vec<Metrics>)) {
    for (name, tensor) in &expected.0 {
        for (found, expected) in found.0[name].f64s().into_iter().zip(tensor.f64s()) {
            assert_close(found, expected, name);
        }
    }
    for (found, expected) in found.1.iter().zip(&expected.1) {
        for (name, value) in expected.iter() {
            assert_close(found.get(name).expect("it is reported"), value, name);
        }
    }
}

#[test]
fn a_loss_with_a_weight_is_what_it_is_by_hand() {
    let by_hand = run(&compile(&["batch=4", "by_hand=true"]));
    let reported = run(&compile(&["batch=4"]));
    assert_same(&reported, &by_hand);
    let names: Vec<_> = reported.1[0].iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["loss", "grad_norm", "learning_rate", "count", "accuracy", "hits", "nothing", "z"]);
    for (found, counts) in reported.1.iter().zip(&COUNTS) {
        let count: usize = counts.iter().sum();
        let [accuracy, hits, z] = ["accuracy", "hits", "z"].map(|name| found.get(name).unwrap());
        assert_close(accuracy * count.max(1) as f64, hits, "a share of the labels");
        assert_eq!(found.get("nothing"), Some(0.0));
        assert!(hits <= count as f64 && (z > 0.0) == (count > 0), "{found:?}");
    }
    assert!(reported.1.iter().any(|found| found.get("hits") > Some(0.0)), "nothing was right: {:?}", reported.1);
}

#[test]
fn micro_batches_and_ranks_report_what_one_batch_does() {
    let expected = run(&compile(&["batch=4"]));
    let layouts: [&[&str]; 6] = [
        &["batch=1", "accumulate.steps=4", "accumulate.form=\"one\""],
        &["batch=1", "accumulate.steps=4", "accumulate.form=\"two\""],
        &["batch=2", "parallel.data=2"],
        &["batch=2", "parallel.data=2", "parallel.tensor=2", "parallel.zero=1"],
        &["batch=1", "parallel.data=2", "accumulate.steps=2", "accumulate.form=\"one\""],
        &["batch=1", "parallel.data=2", "accumulate.steps=2", "accumulate.form=\"two\""],
    ];
    for layout in layouts {
        println!("{layout:?}");
        assert_same(&run(&compile(layout)), &expected);
    }
}

/// The evaluation returns sums, which batches add up to.
#[test]
fn evaluations_add_up() {
    let bundle = compile(&["batch=1"]);
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.set_state(expect(init::initial_state(&bundle, 3))));
    let mut all = Metrics::default();
    for row in 0..SEQUENCES {
        let whole = batch(2);
        let part = |tensor: &HostTensor| {
            HostTensor::from_ints(DType::S32, [1, 6], tensor.ints().into_iter().skip(row * 6).take(6))
        };
        let one: Tensors = whole.iter().map(|(name, tensor)| (name.clone(), part(tensor))).collect();
        all.add(&expect(step.eval(&one)));
    }
    assert_eq!(all.get("count"), Some(10.0));
    let found = all.of_model();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["accuracy", "hits", "nothing", "z"]);
    let mut update = expect(TrainStep::load(xla::executor(), &compile(&["batch=4"])));
    expect(update.set_state(expect(init::initial_state(&bundle, 3))));
    let update = expect(update.step(&batch(2)));
    for (name, value) in &found {
        assert_close(*value, update.get(name).unwrap(), name);
    }
    assert_close(all.mean_loss(), update.loss(), "loss");
}
