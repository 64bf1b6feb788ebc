//! Every sample of every op: text round trip, types of results, interpreter against CPU XLA.

use halite_hlo::{CollectiveForm, GroupField};
use halite_ir::text::{PrintOptions, parse, print_with};
use halite_ir::{
    Indexing, Interpreter, LowerOptions, Module, Registry, Sample, fingerprint, sample_inputs, sample_module, verify,
};
use halite_support::{FileId, Name, Result};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::cases::{FLOATS, describe, distinct_samples, samples};
use halite_test_kit::xla;
use halite_tests::joint::{apart, joint_module};
use halite_tests::known_differences::{Known, find};
use halite_tests::on_own_code;
use halite_tests::parallel::for_each;

const SEED: u64 = 7;

#[test]
fn text_reads_back() {
    let registry = Registry::builtin();
    let options = PrintOptions { locations: false };
    for float in FLOATS {
        for sample in samples(float, &registry) {
            let case = describe(&sample, float);
            let module = sample_module(&sample, &registry).unwrap_or_else(|error| panic!("{case}: {error}"));
            verify(&module, &registry).unwrap_or_else(|errors| panic!("{case}: {errors}"));
            let text = print_with(&module, options);
            let again = parse(&text, FileId::of("test.ir", &text), &registry)
                .unwrap_or_else(|errors| panic!("{case}: {errors:?}"));
            assert_eq!(print_with(&again, options), text, "{case}");
            assert_eq!(fingerprint(&again), fingerprint(&module), "{case}\n{text}");
        }
    }
}

#[test]
fn labels_are_unique_and_every_op_has_samples() {
    let registry = Registry::builtin();
    let mut ops = std::collections::BTreeMap::<String, Vec<Name>>::new();
    for op in halite_ir::Op::primitives() {
        ops.entry(op.name().to_owned()).or_default();
    }
    for def in registry.composites() {
        ops.entry(def.name().to_owned()).or_default();
    }
    for sample in samples(DType::F32, &registry) {
        let labels = ops.entry(sample.op.name().to_owned()).or_default();
        assert!(!labels.contains(&sample.label), "{} has two samples `{}`", sample.op.name(), sample.label);
        labels.push(sample.label);
    }
    let without: Vec<_> = ops.iter().filter(|(_, labels)| labels.is_empty()).map(|(name, _)| name.as_str()).collect();
    // A call needs a callee, which a sample has no place for; random modules call functions.
    assert_eq!(without, ["call", "call_with_gradient", "kernel_call"], "these ops have no samples");
}

#[test]
fn inferred_types_are_those_of_the_results() {
    let registry = Registry::builtin();
    for float in FLOATS {
        for sample in samples(float, &registry) {
            let case = describe(&sample, float);
            let module = sample_module(&sample, &registry).unwrap_or_else(|error| panic!("{case}: {error}"));
            let results = interpret(&module, &registry, sample_inputs(&sample, SEED));
            for results in results.unwrap_or_else(|error| panic!("{case}: {error}")) {
                let found: Vec<_> = results.iter().map(|result| (result.dtype(), result.shape().clone())).collect();
                let types = module.functions[0].result_types();
                let inferred: Vec<_> = types.iter().map(|ty| (ty.dtype(), ty.shape().clone())).collect();
                assert_eq!(found, inferred, "{case}");
            }
        }
    }
}

#[test]
fn single_operations_agree_with_xla() {
    on_own_code("samples::single_operations_agree_with_xla", || {
        let registry = Registry::builtin();
        let programs = FLOATS.into_iter().flat_map(|float| forms().map(|options| (float, options)));
        let programs: Vec<_> = programs.collect();
        let found = for_each(&programs, |&(float, options)| disagreements(float, options, &registry));
        let (mut known, mut failures) = (Known::default(), Vec::new());
        for (sample, float, options, message) in found.into_iter().flatten() {
            if !known.covers(&sample, float) {
                failures.push(format!("{} ({options:?}): {message}", describe(&sample, float)));
            }
        }
        assert!(failures.is_empty(), "{} disagreements:\n{}", failures.len(), failures.join("\n"));
        let stale = known.unused();
        assert!(stale.is_empty(), "these known differences are no longer seen, remove them:\n{}", stale.join("\n"));
    });
}

/// A sample on which XLA and the interpreter do not agree, and in what.
type Disagreement = (Sample, DType, LowerOptions, String);

/// The disagreements on all samples that have a form of HLO.
fn disagreements(float: DType, options: LowerOptions, registry: &Registry) -> Vec<Disagreement> {
    let mut wanted = distinct_samples(float, registry);
    wanted.retain(|sample| xla::has_form(sample, registry, options));
    // Collectives need a program of their own.
    let joint = |sample: &Sample| sample.ranks == 1 && find(sample, float).is_none();
    let (joint, alone): (Vec<_>, Vec<_>) = wanted.into_iter().partition(joint);
    let mut outcomes = run_together(&joint, registry, options);
    outcomes.extend(alone.iter().map(|sample| (sample, run_alone(sample, registry, options))));
    let disagreements = outcomes.into_iter().filter_map(|(sample, outcome)| {
        let message = match outcome.and_then(|found| disagreement(sample, registry, &found)) {
            Ok(message) => message?,
            Err(error) => error.to_string(),
        };
        Some((sample.clone(), float, options, message))
    });
    disagreements.collect()
}

/// The forms of HLO that differ in more than how kernels are called.
fn forms() -> [LowerOptions; 3] {
    let collectives = CollectiveForm { groups: GroupField::CollectiveDeviceList, channels: true, ordered: None };
    let default = LowerOptions::default();
    [
        default,
        LowerOptions { reads: Indexing::OneHot, sums: Indexing::OneHot, ..default },
        LowerOptions { collectives, ..default },
    ]
}

fn interpret(module: &Module, registry: &Registry, inputs: Vec<Vec<HostTensor>>) -> Result<Vec<Vec<HostTensor>>> {
    let entry = module.entry().expect("a sample module has an entry");
    Interpreter::of(module, registry).run_ranks(entry, inputs)
}

/// The difference of XLA's results on each rank from the interpreter's, if there is one.
fn disagreement(sample: &Sample, registry: &Registry, found: &[Vec<HostTensor>]) -> Result<Option<String>> {
    let module = sample_module(sample, registry)?;
    let expected = interpret(&module, registry, sample_inputs(sample, SEED))?;
    for (rank, (found, expected)) in found.iter().zip(&expected).enumerate() {
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            if let Some(message) = apart(found, expected, sample.ulps) {
                return Ok(Some(format!("result {index} of rank {rank} {message}")));
            }
        }
    }
    Ok(None)
}

type Outcome<'a> = (&'a Sample, Result<Vec<Vec<HostTensor>>>);

fn run_alone(sample: &Sample, registry: &Registry, options: LowerOptions) -> Result<Vec<Vec<HostTensor>>> {
    xla::run(&sample_module(sample, registry)?, registry, options, &sample_inputs(sample, SEED))
}

/// Runs samples of one rank as one program, because each compilation has a fixed cost. If it cannot be compiled, each
/// half is tried alone, so that the sample at fault is found.
fn run_together<'a>(samples: &'a [Sample], registry: &Registry, options: LowerOptions) -> Vec<Outcome<'a>> {
    let inputs: Vec<Vec<HostTensor>> =
        samples.iter().map(|sample| sample_inputs(sample, SEED).swap_remove(0)).collect();
    let outcome = joint_module(samples, registry)
        .and_then(|module| xla::run(&module, registry, options, &[inputs.into_iter().flatten().collect()]));
    match outcome {
        Err(error) if samples.len() == 1 => vec![(&samples[0], Err(error))],
        Err(_) => {
            let (first, second) = samples.split_at(samples.len() / 2);
            let mut outcomes = run_together(first, registry, options);
            outcomes.extend(run_together(second, registry, options));
            outcomes
        }
        Ok(mut ranks) => {
            let mut results = ranks.swap_remove(0).into_iter();
            let count = |sample: &Sample| sample_module(sample, registry).map_or(0, |m| m.functions[0].results.len());
            samples.iter().map(|sample| (sample, Ok(vec![results.by_ref().take(count(sample)).collect()]))).collect()
        }
    }
}
