//! One program as HLO and as StableHLO gives the same bits on CPU XLA.

mod counts;
mod functions;
pub(crate) mod programs;
mod reading;

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::tensors::Tensors;
use halite_hlo::{CollectiveForm, GroupField};
use halite_ir::{Indexing, LowerOptions, Module, Registry, Sample, sample_inputs, sample_module};
use halite_runtime::{MemoryStats, ProgramFormat};
use halite_tensor::HostTensor;
use halite_test_kit::cases::{FLOATS, describe, distinct_samples};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_tests::joint::joint_module;
use halite_train::TrainStep;
use std::sync::Arc;

const SEED: u64 = 7;

#[test]
fn samples_of_every_op_give_the_same_bits() {
    let registry = Registry::builtin();
    let mut failures = Vec::new();
    for float in FLOATS {
        for options in forms() {
            let mut samples = distinct_samples(float, &registry);
            samples.retain(|sample| xla::has_form(sample, &registry, options));
            let (one, several): (Vec<_>, Vec<_>) = samples.into_iter().partition(|sample| sample.ranks == 1);
            let several = several.iter().filter_map(|sample| Some((sample, alone(sample, &registry, options).err()?)));
            let found = differing(&one, &registry, options).into_iter().chain(several);
            failures.extend(found.map(|(sample, what)| format!("{} ({options:?}): {what}", describe(sample, float))));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// The forms of HLO that differ in their opcodes and attributes.
fn forms() -> [LowerOptions; 2] {
    let collectives = CollectiveForm { groups: GroupField::CollectiveDeviceList, channels: true, ordered: None };
    let (reads, sums) = (Indexing::OneHot, Indexing::OneHot);
    let default = LowerOptions::default();
    [default, LowerOptions { reads, sums, collectives, ..default }]
}

/// The samples that differ. They run as one program; where it fails, each half is tried alone, so that the sample at fault is found.
fn differing<'s>(samples: &'s [Sample], registry: &Registry, options: LowerOptions) -> Vec<(&'s Sample, String)> {
    let inputs = samples.iter().flat_map(|sample| sample_inputs(sample, SEED).swap_remove(0)).collect();
    let outcome = joint_module(samples, registry).map_err(|error| error.to_string());
    let outcome = outcome.and_then(|module| same_bits(&module, registry, options, &[inputs]));
    match (outcome, samples) {
        (Ok(()), _) => Vec::new(),
        (Err(what), [only]) => vec![(only, what)],
        (Err(_), several) => {
            let (first, second) = several.split_at(several.len() / 2);
            [differing(first, registry, options), differing(second, registry, options)].concat()
        }
    }
}

/// Runs a sample, of as many ranks as it wants, in both formats.
fn alone(sample: &Sample, registry: &Registry, options: LowerOptions) -> Result<(), String> {
    let module = sample_module(sample, registry).map_err(|error| error.to_string())?;
    same_bits(&module, registry, options, &sample_inputs(sample, SEED))
}

/// Runs a module in both formats.
fn same_bits(
    module: &Module,
    registry: &Registry,
    options: LowerOptions,
    inputs: &[Vec<HostTensor>],
) -> Result<(), String> {
    let hlo = xla::hlo(module, registry, options).map_err(|error| error.to_string())?;
    let [expected, found] = ProgramFormat::OF_PLUGINS.map(|format| xla::evaluate_ranks_in(format, &hlo, inputs));
    let (expected, found) = (expected?, found?);
    let (expected, found) = (expected.iter().flatten(), found.iter().flatten());
    let shapes = |tensor: &HostTensor| (tensor.dtype(), tensor.shape().clone());
    assert!(expected.clone().map(shapes).eq(found.clone().map(shapes)));
    match expected.zip(found).position(|(expected, found)| expected.bytes() != found.bytes()) {
        Some(result) => Err(format!("result {result} differs, counted over ranks")),
        None => Ok(()),
    }
}

/// Recipes of steps that between them have all that steps are made of.
const STEPS: [&[&str]; 4] = [
    &["precision=mixed"],
    &["precision=bf16-sr"],
    &["precision=mixed", "batch=4", "parallel.data=2", "parallel.tensor=2"],
    &[
        "precision=mixed",
        "batch=4",
        "parallel.data=2",
        "parallel.tensor=2",
        "parallel.sequence=true",
        "parallel.zero=1",
        "target=trn2",
        "neuron.emit.channels=true",
    ],
];

#[test]
fn training_steps_give_the_same_bits() {
    for settings in STEPS {
        let [expected, found] = ProgramFormat::OF_PLUGINS.map(|format| trained(settings, format));
        assert!(expected.0.iter().any(|loss| *loss != expected.0[0]), "{settings:?}: {:?}", expected.0);
        assert!(expected == found, "{settings:?}: losses {:?} and {:?}", expected.0, found.0);
    }
}

/// Donations are the same, and calls that XLA is to keep stay calls: written out, the step of these layers takes twice as much.
#[test]
fn a_step_takes_the_same_memory() {
    let bundle = compiled(&["precision=mixed", "layers=6"]);
    let hlo = bundle.runnable_hlo(&bundle.manifest.modules[0]).expect("the bundle has its files");
    let [expected, found] = ProgramFormat::OF_PLUGINS.map(|format| {
        let executable = xla::compile_in(format, &hlo, 1).unwrap_or_else(|error| panic!("{error}"));
        executable.memory_stats().unwrap_or_else(|error| panic!("{error}"))
    });
    let fixed = |stats: &MemoryStats| (stats.argument, stats.output, stats.alias);
    assert_eq!(fixed(&found), fixed(&expected));
    assert!(found.alias > 0 && found.temp.abs_diff(expected.temp) * 100 < expected.temp, "{found:?}, {expected:?}");
}

fn compiled(settings: &[&str]) -> Bundle {
    let mut session = Session::new();
    let sizes = ["hidden=32", "ffn=48", "seq=16"].iter().chain(settings).map(ToString::to_string);
    let source = expect(session.load("tiny", &sizes.collect::<Vec<_>>()));
    expect(session.compile(&source, &CompileOptions::default())).bundle
}

/// The losses of some updates, and the state after them.
fn trained(settings: &[&str], format: ProgramFormat) -> (Vec<f64>, Tensors) {
    let executor = Arc::new(xla::client().clone().with_format(format));
    let mut step = expect(TrainStep::load(executor, &compiled(settings)));
    expect(step.init_state(SEED));
    let tokens = step.fed().next().expect("a language model is fed tokens");
    let count: usize = tokens.shape.iter().product();
    let ids = (0..count as i128).map(|index| index * 7 % 250);
    let tokens = HostTensor::from_ints(tokens.dtype, tokens.shape.as_slice(), ids);
    let losses = (0..3).map(|_| expect(step.step(&tokens)).loss()).collect();
    (losses, expect(step.state()))
}
