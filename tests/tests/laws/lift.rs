//! Lifting of lowered HLO gives the meaning of the original module.

use halite_hlo::graph::Graph;
use halite_hlo::proto::Numbers;
use halite_hlo::{CheckedHlo, CollectiveForm, GroupField, Streams, decode};
use halite_ir::{Indexing, Interpreter, LowerOptions, Module, Registry, sample_inputs, sample_module};
use halite_lift::lift;
use halite_support::Result;
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::cases::{FLOATS, describe, distinct_samples};
use halite_test_kit::xla;
use halite_tests::random::{RandomModule, RandomOptions, random_module};

/// Lowers a module and lifts it again, all of it followed.
fn again(module: &Module, registry: &Registry, options: LowerOptions, ranks: usize) -> Result<Module> {
    let hlo = CheckedHlo::new(decode(&xla::hlo(module, registry, options)?)?)?;
    let lifted = lift(hlo.graph(), ranks)?;
    assert!(lifted.unfollowed.is_empty(), "not followed: {:?}", lifted.unfollowed);
    Ok(lifted.module)
}

fn run(module: &Module, registry: &Registry, inputs: &[Vec<HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
    let entry = module.entry().expect("there is an entry");
    Interpreter::of(module, registry).run_ranks(entry, inputs.to_vec())
}

/// By how many units of roundoff results are apart.
fn apart(found: &[Vec<HostTensor>], expected: &[Vec<HostTensor>]) -> f64 {
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    let units = pairs.map(|(found, expected)| match found == expected {
        true => 0.0,
        false => difference(found, expected).relative() / expected.dtype().unit_roundoff().max(f64::EPSILON),
    });
    units.fold(0.0, f64::max)
}

/// The forms of HLO.
fn forms() -> [LowerOptions; 3] {
    let collectives = CollectiveForm { groups: GroupField::CollectiveDeviceList, channels: true, ordered: None };
    let other = LowerOptions {
        reads: Indexing::OneHot,
        sums: Indexing::OneHot,
        collectives,
        plain_calls: true,
        ..LowerOptions::default()
    };
    let ordered = Some(Streams { ranks: 2, stride: 1 });
    let tokens = LowerOptions {
        collectives: CollectiveForm { ordered, ..CollectiveForm::default() },
        ..LowerOptions::default()
    };
    [LowerOptions::default(), other, tokens]
}

#[test]
fn what_is_lowered_is_lifted_to_the_same_meaning() {
    let registry = Registry::builtin();
    let mut wrong = Vec::new();
    for float in FLOATS {
        for sample in distinct_samples(float, &registry) {
            let case = describe(&sample, float);
            let module = sample_module(&sample, &registry).unwrap_or_else(|error| panic!("{case}: {error}"));
            let inputs = sample_inputs(&sample, 7);
            let expected = run(&module, &registry, &inputs).unwrap_or_else(|error| panic!("{case}: {error}"));
            for options in forms() {
                let found = again(&module, &registry, options, sample.ranks)
                    .and_then(|again| run(&again, &registry, &inputs))
                    .unwrap_or_else(|error| panic!("{case}: {error}"));
                let units = apart(&found, &expected);
                if units > 8.0 {
                    wrong.push(format!("{case}: {units} units"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn random_modules_are_lifted_to_the_same_meaning() {
    let registry = Registry::builtin();
    let count = std::env::var("HALITE_RANDOM_MODULES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    for seed in 0..u64::div_ceil(count, 10) {
        let options = RandomOptions { float: DType::F64, smooth: false };
        let RandomModule { module, inputs, .. } = random_module(seed, options, &registry);
        let inputs = [inputs];
        let expected = run(&module, &registry, &inputs).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let once = again(&module, &registry, LowerOptions::default(), 1);
        let once = once.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let found = run(&once, &registry, &inputs).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let units = apart(&found, &expected);
        assert!(units < 1e4, "seed {seed}: {units} units");
        let twice = again(&once, &registry, LowerOptions::default(), 1);
        let twice = twice.unwrap_or_else(|error| panic!("seed {seed}, again: {error}"));
        assert_eq!(
            run(&twice, &registry, &inputs).ok(),
            Some(found),
            "seed {seed}: what was lifted is lowered to itself"
        );
    }
}

/// Programs that JAX wrote, as XLA runs them. Few numbers, so that there are ties.
#[test]
fn what_jax_wrote_is_lifted_to_what_xla_computes() {
    for name in ["extremes", "rounds", "scan"] {
        let file = format!("{}/jax/fixtures/{name}.hlo.pb", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(file).expect("the fixture is there");
        let hlo = CheckedHlo::new(decode(&bytes).expect("it is HLO")).expect("it is sound");
        let lifted = lift(hlo.graph(), 1).expect("it is lifted");
        assert!(lifted.unfollowed.is_empty(), "{name}: {:?}", lifted.unfollowed);
        let entry = lifted.module.entry().expect("there is an entry");
        let types = entry.params.iter().map(|param| entry.ty(param.value).clone());
        let inputs = types.map(|ty| {
            let numbers =
                (0..ty.shape().num_elements()).map(|at| f64::from((at * at * 7 + 3 * at) as i32 % 5 - 2) / 4.0);
            match ty.dtype().is_float() {
                true => HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), numbers),
                false => {
                    HostTensor::from_ints(ty.dtype(), ty.shape().clone(), numbers.map(|number| (number * 4.0) as i128))
                }
            }
        });
        let inputs: Vec<HostTensor> = inputs.collect();
        let expected = xla::evaluate(&bytes, &inputs).expect("XLA runs it");
        let found = run(&lifted.module, &Registry::default(), &[inputs]).expect("the interpreter runs it");
        assert_eq!(found[0].len(), expected.len(), "{name}");
        let units = apart(&found, &[expected]);
        assert!(units < 16.0, "{name}: {units} units");
    }
}

#[test]
fn a_graph_that_breaks_off_is_refused() {
    let empty = Graph::new(halite_hlo::proto::HloModuleProto::default());
    assert_eq!(lift(&empty, 1).unwrap_err().message(), "the module has no entry");
}

#[test]
fn a_reduction_along_a_dimension_that_there_is_not_is_not_followed() {
    let text = "func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<f32> {
%0 = stablehlo.reduce(%x init: %y) across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
reducer(%a: tensor<f32>, %b: tensor<f32>) {
%1 = stablehlo.atan2 %a, %b : tensor<f32>
stablehlo.return %1 : tensor<f32>
}
return %0 : tensor<f32>
}";
    let mut hlo = halite_stablehlo::read(&halite_support::SourceFile::new("reduce.mlir", text))
        .expect("it is read")
        .into_module();
    let unfollowed = |module: &halite_hlo::proto::HloModuleProto| {
        lift(&Graph::new(module.clone()), 1).expect("it is lifted").unfollowed.into_keys().collect::<Vec<_>>()
    };
    assert!(unfollowed(&hlo).is_empty());
    let all = hlo.computations.iter_mut().flat_map(|own| &mut own.instructions);
    all.filter(|inst| inst.opcode == "reduce").for_each(|inst| inst.dimensions = Numbers::from_slice(&[8]));
    assert_eq!(unfollowed(&hlo), ["reduce"]);
}
