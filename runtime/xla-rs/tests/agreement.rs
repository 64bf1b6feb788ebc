//! The executor on the crate `xla` against the one on the PJRT plugin: op samples and training.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::tensors::Tensors;
use halite_ir::{LowerOptions, Registry, Sample, sample_inputs, sample_module};
use halite_runtime::{Executor, Program, evaluate_replicas};
use halite_support::Result;
use halite_tensor::HostTensor;
use halite_test_kit::cases::{FLOATS, describe, distinct_samples};
use halite_test_kit::xla;
use halite_tests::joint::{apart, joint_module};
use halite_tests::texts;
use halite_train::{RunFiles, Silent, TrainOptions, train};
use halite_xla_rs::XlaRs;
use std::sync::{Arc, OnceLock};

const SEED: u64 = 7;

/// The executor under test.
fn executor() -> &'static XlaRs {
    static EXECUTOR: OnceLock<XlaRs> = OnceLock::new();
    EXECUTOR.get_or_init(|| XlaRs::cpu().unwrap_or_else(|error| panic!("{error}")))
}

/// Runs HLO once on host tensors, `inputs[rank]` to `results[rank]`.
fn run(executor: &dyn Executor, hlo: &[u8], inputs: &[Vec<HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
    let options = halite_runtime::CompileOptions { num_replicas: inputs.len(), ..Default::default() };
    let executable = executor.compile(&Program::new(hlo, options)?)?;
    let inputs: Vec<&[HostTensor]> = inputs.iter().map(Vec::as_slice).collect();
    Ok(evaluate_replicas(executor, executable.as_ref(), &inputs)?)
}

/// The results of both executors, the plugin's second.
type Both = [Vec<Vec<HostTensor>>; 2];

fn run_both(hlo: &[u8], inputs: &[Vec<HostTensor>]) -> Result<Both> {
    Ok([run(executor(), hlo, inputs)?, run(xla::client(), hlo, inputs)?])
}

/// The results of samples of one rank, which are run as one program.
fn run_together(samples: &[Sample], registry: &Registry) -> Result<Vec<Both>> {
    let hlo = xla::hlo(&joint_module(samples, registry)?, registry, LowerOptions::default())?;
    let inputs = samples.iter().flat_map(|sample| sample_inputs(sample, SEED).swap_remove(0)).collect();
    let mut results = run_both(&hlo, &[inputs])?.map(|mut ranks| ranks.swap_remove(0).into_iter());
    let results = samples.iter().map(|sample| {
        let count = sample_module(sample, registry)?.functions[0].results.len();
        Ok(results.each_mut().map(|results| vec![results.by_ref().take(count).collect()]))
    });
    results.collect()
}

fn run_alone(sample: &Sample, registry: &Registry) -> Result<Both> {
    let hlo = xla::hlo(&sample_module(sample, registry)?, registry, LowerOptions::default())?;
    run_both(&hlo, &sample_inputs(sample, SEED))
}

#[test]
fn samples_give_what_the_plugin_gives() {
    let registry = Registry::builtin();
    let (mut compared, mut equal, mut failures) = (0, 0, Vec::new());
    for float in FLOATS {
        let samples = distinct_samples(float, &registry);
        let (joint, alone): (Vec<_>, Vec<_>) = samples.into_iter().partition(|sample| sample.ranks == 1);
        let together = run_together(&joint, &registry).unwrap_or_else(|error| panic!("{float}: {error}"));
        let alone = alone.into_iter().map(|sample| {
            let both =
                run_alone(&sample, &registry).unwrap_or_else(|error| panic!("{}: {error}", describe(&sample, float)));
            (sample, both)
        });
        for (sample, [found, expected]) in joint.into_iter().zip(together).chain(alone) {
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                compared += 1;
                equal += usize::from(apart(found, expected, 0.0).is_none());
                if let Some(message) = apart(found, expected, sample.ulps) {
                    failures.push(format!("{}: {message}", describe(&sample, float)));
                }
            }
        }
    }
    println!("{compared} results, {equal} of them the same bits");
    assert!(failures.is_empty(), "{} disagreements:\n{}", failures.len(), failures.join("\n"));
}

fn compile(precision: &str) -> Bundle {
    let mut session = Session::new();
    let settings = [format!("precision={precision}")];
    let source = session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}")).bundle
}

/// The loss of each of so many updates of `tiny`, and the state after them.
fn train_tiny(executor: Arc<dyn Executor>, bundle: &Bundle, steps: u64) -> (Vec<f64>, Tensors) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = RunFiles::new(folder.path());
    let options = TrainOptions { steps, eval_batches: 4, ..TrainOptions::default() };
    let history = train(executor, bundle, &texts::book(bundle), &options, &files, &mut Silent);
    let history = history.unwrap_or_else(|errors| panic!("{errors:?}"));
    let state = halite_bundle::tensors::read(&files.state()).unwrap_or_else(|error| panic!("{error:?}"));
    (history.steps.iter().map(|step| step.loss()).collect(), state)
}

/// How far apart the two may be, relatively: each loss, and each tensor of the state by its norm.
struct Apart {
    precision: &'static str,
    loss: f64,
    state: f64,
}

/// The two are different releases of XLA, which add up sums in different orders. Seen were 1.0e-7 and 7.9e-7, 1.4e-5 and
/// 9.7e-3, 2.3e-5 and 1.2e-2: where matmuls read bf16, or weights are bf16, a sum that is a hair apart may round to its other
/// neighbour, 7.8e-3 away. An update more or less moves some moment by 0.41 in each. Single elements tell less: Adam makes a whole
/// step of a gradient near zero, whichever sign it has.
const APART: [Apart; 3] = [
    Apart { precision: "fp32", loss: 1e-6, state: 3e-6 },
    Apart { precision: "mixed", loss: 1e-4, state: 2e-2 },
    Apart { precision: "bf16-sr", loss: 1e-4, state: 3e-2 },
];

/// The tensor that is furthest apart, by the norm of the difference over that of what is expected.
fn furthest(found: &Tensors, expected: &Tensors) -> (String, f64) {
    let norm = |values: Vec<f64>| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let apart = expected.iter().map(|(name, expected)| {
        let (found, expected) = (found[name].f64s(), expected.f64s());
        assert!(expected.iter().chain(&found).all(|value| value.is_finite()), "`{name}` is not finite");
        let difference = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
        (name.clone(), norm(difference) / norm(expected).max(f64::MIN_POSITIVE))
    });
    apart.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or_default()
}

#[test]
fn twenty_updates_of_tiny_give_what_the_plugin_gives() {
    for Apart { precision, loss, state: allowed } in APART {
        let bundle = compile(precision);
        let (losses, state) = train_tiny(Arc::new(executor().clone()), &bundle, 20);
        let (expected_losses, expected_state) = train_tiny(xla::executor(), &bundle, 20);
        assert_eq!((losses.len(), expected_losses.len()), (20, 20));
        assert!(losses.iter().chain(&expected_losses).all(|loss| loss.is_finite()), "{precision}: {losses:?}");
        let apart = losses.iter().zip(&expected_losses).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        assert!(apart <= loss, "{precision}: the losses are {apart:e} apart, {loss:e} are allowed");
        assert!(losses[19] < losses[0], "{precision}: the loss goes from {} to {}", losses[0], losses[19]);
        assert!(state.keys().eq(expected_state.keys()), "{precision}: other tensors");
        let (name, furthest) = furthest(&state, &expected_state);
        // What the bound is to tell from the same.
        let (_, earlier) = train_tiny(xla::executor(), &bundle, 19);
        let (_, moved) = self::furthest(&earlier, &expected_state);
        println!("{precision}: losses {apart:.1e} apart, state {furthest:.1e}, an update {moved:.1e}");
        assert!(furthest <= allowed, "{precision}: `{name}` is {furthest:e} apart, {allowed:e} are allowed");
        assert!(moved > 10.0 * allowed, "{precision}: an update moves the state by {moved:e}, {allowed:e} are allowed");
    }
}
