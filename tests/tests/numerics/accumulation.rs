//! Gradients accumulated over micro-batches, in one module and in two, against one large batch.

use halite::Session;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, ModuleRole, init};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;

const STEPS: usize = 4;

/// The labelled model at `batch` sequences.
fn compile(batch: usize, more: &[&str]) -> Bundle {
    let mut session = Session::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/labelled.hal");
    let stated = [format!("batch={batch}"), "optimizer.adamw.clip_norm=0.5".to_owned()];
    let settings: Vec<String> = stated.into_iter().chain(more.iter().map(ToString::to_string)).collect();
    let source = expect(session.load(path, &settings));
    expect(session.compile(&source, &Default::default())).bundle
}

fn form(word: &str) -> [String; 2] {
    [format!("accumulate.steps={STEPS}"), format!("accumulate.form=\"{word}\"")]
}

/// A batch of so many sequences of which these numbers of labels count.
fn batch(update: usize, counts: [usize; STEPS]) -> Tensors {
    let token = |at: usize| ((at * 7 + update * 13) % 32) as i128;
    let tokens = HostTensor::from_ints(DType::S32, [STEPS, 6], (0..STEPS * 6).map(token));
    let label = |at: usize| if at % 6 < counts[at / 6] { token(at + 1) } else { -100 };
    let labels = HostTensor::from_ints(DType::S32, [STEPS, 6], (0..STEPS * 6).map(label));
    Tensors::from_iter([("tokens".to_owned(), tokens), ("labels".to_owned(), labels)])
}

/// Counts of a full batch, one where a micro-batch has nothing and one where another has a single label, and an empty one.
const COUNTS: [[usize; STEPS]; 4] = [[6; STEPS], [0, 6, 1, 3], [1, 0, 0, 0], [0; STEPS]];

/// The state after an update of each kind, and the metrics of each.
fn run(bundle: &Bundle) -> (Tensors, Vec<Vec<f64>>) {
    let mut step = expect(TrainStep::load(xla::executor(), bundle));
    expect(step.set_state(expect(init::initial_state(bundle, 3))));
    let update = |(at, counts): (usize, &[usize; STEPS])| {
        let metrics = expect(step.step(&batch(at, *counts)));
        metrics.iter().map(|(_, value)| value).collect()
    };
    let metrics = COUNTS.iter().enumerate().map(update).collect();
    (expect(step.state()), metrics)
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let scale = expected.iter().fold(1e-3f64, |scale, value| scale.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * scale, "{what}: {found:?} is not {expected:?}");
    }
}

/// Also where micro-batches have all of the labels, some, one or none.
#[test]
fn micro_batches_make_the_update_of_one_batch() {
    let (expected, metrics) = run(&compile(STEPS, &["precision=fp64"]));
    for word in ["one", "two"] {
        let [steps, form] = form(word);
        let (state, found) = run(&compile(1, &["precision=fp64", &steps, &form]));
        assert_eq!(state.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{word}");
        for (name, tensor) in &expected {
            assert_close(&state[name].f64s(), &tensor.f64s(), &format!("{word}: {name}"));
        }
        for (found, expected) in found.iter().zip(&metrics) {
            assert_close(found, expected, word);
        }
        assert_eq!(found[3][3], 0.0, "{word}: the count of a batch without labels");
    }
}

/// Both forms add the same gradients in the same order, so that stochastic rounding writes the same bits.
#[test]
fn both_forms_write_the_same_bits() {
    let bundle = |word| {
        let [steps, form] = form(word);
        compile(1, &["precision=bf16-sr", &steps, &form])
    };
    let (one, two) = (run(&bundle("one")).0, run(&bundle("two")).0);
    assert_eq!(one, two);
    let moved = one["table"].f64s() != expect(init::initial_state(&bundle("one"), 3))["table"].f64s();
    assert!(moved, "nothing was updated");
}

/// An update that stops between its calls leaves no part of its sums to the next one.
#[test]
fn a_refused_batch_changes_nothing() {
    let [steps, form] = form("two");
    let bundle = compile(1, &["precision=fp32", &steps, &form]);
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.init_state(3));
    let before = expect(step.state());
    let one = HostTensor::from_ints(DType::S32, [1, 6], [1; 6]);
    let one = Tensors::from_iter([("tokens".to_owned(), one.clone()), ("labels".to_owned(), one)]);
    assert!(step.step(&one).is_err(), "one micro-batch is no batch");
    assert!(step.eval(&one).is_ok(), "an evaluation takes one micro-batch");
    assert!(step.eval(&batch(0, COUNTS[0])).is_err(), "an evaluation takes no batch of an update");
    assert_eq!(expect(step.state()), before);
    expect(step.step(&batch(0, COUNTS[0])));
    assert_eq!(step.completed(), 1);
}

/// The schedule of both forms in the manifest.
#[test]
fn the_schedule_lists_the_calls() {
    let calls = |bundle: &Bundle| {
        let [actions] = &bundle.manifest.schedule[..] else { panic!("{:?}", bundle.manifest.schedule) };
        actions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let [steps, one] = form("one");
    let [_, two] = form("two");
    let (one, two) = (compile(2, &[&steps, &one]), compile(2, &[&steps, &two]));
    assert_eq!(calls(&one), "run train_step 0");
    assert_eq!(calls(&two), "run grad_step 0..4, run update_step");
    for bundle in [&one, &two] {
        assert_eq!(bundle.manifest.micro_batches(), Some(STEPS));
        assert_eq!(bundle.manifest.statistics.tokens_per_step, 2 * STEPS as u64 * 6);
        let tokens = bundle.manifest.buffers.iter().find(|buffer| buffer.name == "tokens").expect("an input");
        assert_eq!(tokens.shape, [2, 6], "a buffer holds one micro-batch");
    }
    assert!(
        one.module_with_role(&ModuleRole::TRAIN_STEP).is_ok() && two.module_with_role(&ModuleRole::TRAIN_STEP).is_err()
    );
}

/// The function of a micro-step is there once, however many there are.
#[test]
fn a_module_grows_by_its_calls_alone() {
    let instructions = |steps: usize| {
        let bundle = compile(1, &[&format!("accumulate={steps}")]);
        let entry = bundle.module_with_role(&ModuleRole::TRAIN_STEP).expect("a step");
        let hlo = halite_hlo::decode(bundle.hlo(entry).expect("a file")).expect("it is HLO");
        hlo.computations.iter().map(|computation| computation.instructions.len()).sum::<usize>()
    };
    // A call, what takes its tuple apart (loss, count, three gradients), and a slice of each of two inputs.
    let [two, three, nine] = [2, 3, 9].map(instructions);
    assert_eq!(three - two, 1 + 5 + 2);
    assert_eq!(nine - three, 6 * (three - two));
}

/// The temporary memory of the calls of an update is at most that of one micro-batch, one copy of the gradients, and 5% more.
#[test]
fn memory_is_that_of_one_micro_batch_and_the_sums() {
    let sizes = ["layers=3", "hidden=192", "heads=6", "kv_heads=3", "ffn=528", "vocab=1536", "seq=192", "batch=2"];
    let temporaries = |more: &[&str]| {
        let mut session = Session::new();
        let settings: Vec<String> = sizes.iter().chain(more).map(ToString::to_string).collect();
        let source = expect(session.load("tiny", &settings));
        let bundle = expect(session.compile(&source, &Default::default())).bundle;
        let manifest = &bundle.manifest;
        let of = |called: &str| {
            let entry = manifest.modules.iter().find(|entry| entry.name == called).expect("a module");
            let program = xla::compile(bundle.hlo(entry).expect("a file"), 1).expect("XLA takes it");
            program.memory_stats().expect("CPU XLA tells").temp
        };
        (manifest.calls().into_keys().map(of).max().expect("a call"), manifest.statistics.parameters * 4)
    };
    let (one, gradients) = temporaries(&["precision=mixed"]);
    for form in ["one", "two"] {
        let accumulate = format!("accumulate={{ steps = 8, form = \"{form}\" }}");
        let (found, _) = temporaries(&["precision=mixed", &accumulate]);
        let most = (one + gradients) as f64 * 1.05;
        assert!(found as f64 <= most, "{form}: {found} bytes, one micro-batch {one}, gradients {gradients}");
    }
}

/// Sums start anew after all that reads them, which Neuron's runtime is sensitive to.
#[test]
fn a_target_takes_both_modules() {
    let mut session = Session::new();
    let source = expect(session.load("tiny", &["target=trn1".to_owned(), "accumulate=4".to_owned()]));
    let compiled = expect(session.compile(&source, &Default::default()));
    assert_eq!(compiled.bundle.manifest.calls().len(), 2, "two modules are its form");
    assert_eq!(compiled.warnings, []);
}
