//! Programs to be compiled from both formats, with operands.

use super::{SEED, STEPS, compiled, forms};
use halite::Session;
use halite_hlo::{CheckedHlo, Type};
use halite_ir::{LowerOptions, Registry, sample_inputs, sample_module};
use halite_tensor::HostTensor;
use halite_test_kit::cases::{FLOATS, distinct_samples};
use halite_test_kit::suites::lowered;
use halite_test_kit::{InputKind, Kit, seeded_inputs, xla};
use halite_tests::joint::joint_module;

/// A module and its operands: `inputs[rank][parameter]`.
pub(crate) struct Program {
    pub(crate) hlo: Vec<u8>,
    pub(crate) inputs: Vec<Vec<HostTensor>>,
}

/// The programs of a kind.
pub(crate) type Kind = (&'static str, fn() -> Vec<Program>);

pub(crate) const KINDS: [Kind; 3] =
    [("samples of every op", of_samples), ("lowered goldens", of_goldens), ("modules of steps", of_steps)];

/// The samples of one rank together, the others alone.
fn of_samples() -> Vec<Program> {
    let registry = Registry::builtin();
    let each = FLOATS.into_iter().flat_map(|float| forms().map(|options| (float, options)));
    each.flat_map(|(float, options)| {
        let mut samples = distinct_samples(float, &registry);
        samples.retain(|sample| xla::has_form(sample, &registry, options));
        let (one, several): (Vec<_>, Vec<_>) = samples.into_iter().partition(|sample| sample.ranks == 1);
        let inputs = one.iter().flat_map(|sample| sample_inputs(sample, SEED).swap_remove(0)).collect();
        let module = joint_module(&one, &registry).expect("samples are modules");
        let together = program(&module, &registry, options, vec![inputs]);
        let alone = several.iter().map(|sample| {
            let module = sample_module(sample, &registry).expect("a sample is a module");
            program(&module, &registry, options, sample_inputs(sample, SEED))
        });
        std::iter::once(together).chain(alone).collect::<Vec<_>>()
    })
    .collect()
}

fn program(
    module: &halite_ir::Module,
    registry: &Registry,
    options: LowerOptions,
    inputs: Vec<Vec<HostTensor>>,
) -> Program {
    let hlo = xla::hlo(module, registry, options).unwrap_or_else(|error| panic!("{error}"));
    Program { hlo, inputs }
}

fn of_goldens() -> Vec<Program> {
    let session = Session::new();
    let kit = Kit::new(Session::new(), concat!(env!("CARGO_MANIFEST_DIR"), "/golden"));
    let cases = kit.cases("lower").unwrap_or_else(|error| panic!("{error}"));
    let lowered = cases.iter().map(|case| lowered(case, &session).unwrap_or_else(|error| panic!("{error}")));
    lowered
        .map(|lowered| {
            let entry = lowered.legal.entry().expect("a lowered golden has an entry");
            let inputs = vec![seeded_inputs(entry, InputKind::Plain, SEED)];
            Program { hlo: halite_hlo::encode(&lowered.runnable), inputs }
        })
        .collect()
}

fn of_steps() -> Vec<Program> {
    let modules = STEPS.iter().flat_map(|settings| {
        let bundle = compiled(settings);
        let ranks = bundle.manifest.mesh.num_ranks();
        let hlo = |module| bundle.runnable_hlo(module).expect("the bundle has its files").into_owned();
        let modules: Vec<_> = bundle.manifest.modules.iter().map(|module| (hlo(module), ranks)).collect();
        modules
    });
    modules.map(|(hlo, ranks)| Program { inputs: vec![plain_inputs(&hlo); ranks], hlo }).collect()
}

/// Numbers between 0 and 1, and whole ones that are tokens of a small vocabulary, for each parameter.
pub(crate) fn plain_inputs(hlo: &[u8]) -> Vec<HostTensor> {
    let hlo = CheckedHlo::new(halite_hlo::decode(hlo).expect("it is a module")).expect("it is sound");
    let entry = hlo.graph().entry_number().expect("a module has an entry");
    let mut parameters = hlo.graph().computations()[entry].parameters.clone();
    parameters.sort_by_key(|&at| hlo.graph().inst(at).parameter_number);
    let input = |&at: &usize| {
        let shape = hlo.graph().shape(at).expect("a parameter has a shape");
        let ty = Type::from_proto(shape).expect("it is one of ours");
        let ty = ty.array().expect("a parameter of ours is an array");
        let numbers = (0..ty.shape.iter().product::<usize>()).map(|at| at * 7919 % 1000);
        let shape = ty.shape.clone();
        match ty.dtype.is_float() {
            true => HostTensor::from_f64s(ty.dtype, shape, numbers.map(|number| number as f64 / 1000.0)),
            false => HostTensor::from_ints(ty.dtype, shape, numbers.map(|number| number as i128 % 250)),
        }
    };
    parameters.iter().map(input).collect()
}
