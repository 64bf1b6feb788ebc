//! Every op that the target takes, by its samples.

use crate::bench::Bench;
use crate::check::{Case, Check, Probe, Told, Within};
use crate::program::Program;
use halite_ir::{Builder, Module, Op, ParamRole, Registry, Sample, sample_inputs, sample_module};
use halite_neuron::Tables;
use halite_support::Result;
use halite_target::Basis;
use halite_tensor::DType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The floats in which samples are asked; the target has no `f64`, and `f16` adds no op.
const FLOATS: [DType; 2] = [DType::F32, DType::Bf16];

/// Samples in one program: few programs, since each compile has a fixed cost, and not one, since a refusal is sought by halves.
const TOGETHER: usize = 48;

/// The seed of random operands.
const SEED: u64 = 7;

/// Samples that are not asked: devices may flush subnormals, and of a whole number to a negative power XLA's own two generators of code
/// for CPUs give different results; no program of Halite has one.
const FREE: [(&str, &str); 2] = [("multiply", "subnormal"), ("power", "negative exponents")];

pub(super) struct Ops;

/// A sample that the target takes, and the facts that it rests on.
#[derive(Clone)]
struct Taken {
    sample: Sample,
    float: DType,
    facts: Vec<String>,
}

impl Check for Ops {
    fn name(&self) -> &'static str {
        "ops"
    }

    fn about(&self) -> &'static str {
        "samples of every op that the tables take, in f32, bf16 and whole numbers"
    }

    fn meaning(&self) -> &'static str {
        "Programs with such an op are refused or compute something else than their HLO says."
    }

    fn told(&self) -> Vec<Told> {
        let rows = Tables::builtin().opcodes.iter().filter(|row| row.provenance.basis == Basis::Inferred);
        let opcodes: BTreeSet<&str> = rows.flat_map(|row| row.opcodes.iter().map(String::as_str)).collect();
        // Those that are asked for by checks of their own.
        opcodes.into_iter().filter(|opcode| !["call", "opt-barrier"].contains(opcode)).map(Told::opcode).collect()
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for float in FLOATS {
            let taken = taken(bench, float);
            for (at, chunk) in taken.chunks(TOGETHER).enumerate() {
                cases.push(case_of(bench, &format!("ops-{float}-{at}"), chunk)?);
            }
        }
        Ok(cases)
    }
}

/// The samples of one rank that no rule refuses, which depend on the float type or are asked once.
fn taken(bench: &Bench, float: DType) -> Vec<Taken> {
    let registry = &bench.session.registry;
    let primitives = Op::primitives().into_iter().flat_map(|op| op.def().samples(float));
    let samples = primitives.chain(registry.composites().flat_map(|def| def.samples(float)));
    let asked = |sample: Sample| {
        let is_free = FREE.contains(&(sample.op.name(), &*sample.label));
        if sample.ranks > 1 || is_free || has_nothing(&sample) || !is_of(&sample, float, registry) {
            return None;
        }
        let program = alone(bench, &sample)?;
        let facts = bench.opcode_facts(&program);
        bench.refusal(&program).is_none().then_some(Taken { sample, float, facts })
    };
    samples.filter_map(asked).collect()
}

/// Empty arrays are no tensors of a NEFF.
fn has_nothing(sample: &Sample) -> bool {
    sample.args.is_empty() || sample.args.iter().any(|arg| arg.ty.shape().num_elements() == 0)
}

/// Whether a sample depends on the float type; what depends on none is asked with the first.
fn is_of(sample: &Sample, float: DType, registry: &Registry) -> bool {
    let results = sample_module(sample, registry).map(|module| module.functions[0].result_types()).unwrap_or_default();
    let types = sample.args.iter().map(|arg| arg.ty.dtype()).chain(results.iter().map(|ty| ty.dtype()));
    let is_empty = results.iter().any(|ty| ty.shape().num_elements() == 0);
    !is_empty && (float == FLOATS[0] || types.into_iter().any(|dtype| dtype == float))
}

/// A sample as a program of its own; nothing where it has none, as what rounds at random has not.
fn alone(bench: &Bench, sample: &Sample) -> Option<Program> {
    let module = sample_module(sample, &bench.session.registry).ok()?;
    bench.program("sample", module, "expand-composites").ok()
}

/// Samples side by side in one program.
fn case_of(bench: &Bench, name: &str, taken: &[Taken]) -> Result<Case> {
    let program = joint(bench, name, taken)?;
    let all: Vec<_> = taken.iter().flat_map(|taken| sample_inputs(&taken.sample, SEED).swap_remove(0)).collect();
    let runs = vec![vec![program.inputs(&all)]];
    let kept = program.kept.clone();
    let mut case = Case::of(bench, name, program, runs)?;
    let (mut input, mut output) = (0, 0);
    for Taken { sample, float, facts } in taken {
        let results = sample_module(sample, &bench.session.registry)?.functions[0].results.len();
        let operands = input..input + sample.args.len();
        let place = |at: usize| kept.iter().filter(|kept| **kept < at).count();
        case.probes.push(Probe {
            label: label(sample, *float),
            facts: facts.clone(),
            inputs: place(operands.start)..place(operands.end),
            outputs: output..output + results,
            within: Within::Units(sample.ulps),
        });
        (input, output) = (operands.end, output + results);
    }
    if taken.len() > 1 {
        let (name, taken, bench) = (name.to_owned(), taken.to_vec(), Bench::clone(bench));
        case.parts = Some(Arc::new(move || {
            let (first, second) = taken.split_at(taken.len() / 2);
            Ok(vec![case_of(&bench, &format!("{name}-a"), first)?, case_of(&bench, &format!("{name}-b"), second)?])
        }));
    }
    Ok(case)
}

/// ``tanh `special` in bf16``; of a sample without floats its type is in its name.
fn label(sample: &Sample, float: DType) -> String {
    let is_float = sample.args.iter().any(|arg| arg.ty.dtype().is_float());
    let of = if is_float { format!(" in {float}") } else { String::new() };
    format!("{} `{}`{of}", sample.op.name(), sample.label)
}

fn joint(bench: &Bench, name: &str, taken: &[Taken]) -> Result<Program> {
    let mut module = Module::new("ops");
    let mut b = Builder::new(&mut module, &bench.session.registry, "main");
    let mut applied = Vec::new();
    for (position, Taken { sample, .. }) in taken.iter().enumerate() {
        let args = sample.args.iter().enumerate();
        let args = args.map(|(at, arg)| b.param(format!("s{position}.x{at}"), arg.ty.clone(), ParamRole::Argument));
        applied.push((sample.op.clone(), args.collect::<Vec<_>>()));
    }
    for (op, args) in applied {
        for result in b.emit_all(op, &args)? {
            b.result(result);
        }
    }
    b.finish();
    bench.program(name, module, "expand-composites")
}
