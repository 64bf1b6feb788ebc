//! Kernels of the vendor against what they stand for.

use crate::bench::Bench;
use crate::check::{Case, Check, Needs, Told, Within};
use halite_ir::{Op, Sample, sample_inputs, sample_module};
use halite_neuron::kernels::entries;
use halite_passes::DialectEntry;
use halite_support::Result;
use halite_tensor::DType;

/// The seed of random operands.
const SEED: u64 = 11;

pub(super) struct Kernels;

impl Check for Kernels {
    fn name(&self) -> &'static str {
        "kernels"
    }

    fn about(&self) -> &'static str {
        "kernels of the vendor against their decompositions"
    }

    fn needs(&self) -> Needs {
        Needs::Kernels
    }

    fn meaning(&self) -> &'static str {
        "Switch the kernel off with `dialect.off`; programs are then written out, which costs time and no accuracy."
    }

    fn told(&self) -> Vec<Told> {
        let told = |entry: &DialectEntry| {
            Told::new(
                &format!("kernels/{}", entry.kernel),
                &format!("`{}` takes the operands of its row, and computes what its decomposition does", entry.kernel),
                &format!(
                    "kernels.toml: its row becomes `observed`, and `{}` is used without being asked for",
                    entry.name
                ),
                &format!(
                    "kernels.toml: its row says what was found, and `{}` is off unless `dialect.on` names it",
                    entry.name
                ),
            )
        };
        entries().iter().map(told).collect()
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let entries = entries();
        let cases = entries.iter().filter_map(|entry| case(bench, entry).transpose());
        cases.collect()
    }
}

/// The first sample that an entry takes, as a program that calls the kernel; nothing where it takes none.
fn case(bench: &Bench, entry: &DialectEntry) -> Result<Option<Case>> {
    let bench = &bench.with_kernels(&[&entry.name]);
    for sample in samples(bench, &entry.op) {
        let module = sample_module(&sample, &bench.session.registry)?;
        let name = format!("kernel-{}", entry.name.replace('.', "-"));
        let program = bench.program(&name, module, "dispatch-dialect, expand-composites")?;
        if !calls(&program, &entry.kernel) {
            continue;
        }
        let inputs = sample_inputs(&sample, SEED).swap_remove(0);
        let runs = vec![vec![program.inputs(&inputs)]];
        let case = Case::of(bench, &name, program, runs)?;
        let label = format!("{} in the place of `{}`", entry.kernel, entry.op);
        let facts = vec![format!("kernels/{}", entry.kernel)];
        return Ok(Some(case.probing(label, facts, Within::Units(sample.ulps))));
    }
    Ok(None)
}

/// The samples of an op or composite.
fn samples(bench: &Bench, op: &str) -> Vec<Sample> {
    let primitives = Op::primitives().into_iter().filter(|known| known.name() == op);
    let primitives = primitives.flat_map(|known| known.def().samples(DType::F32));
    let composites = bench.session.registry.composites().filter(|def| def.name() == op);
    primitives.chain(composites.flat_map(|def| def.samples(DType::F32))).collect()
}

/// Whether a program calls a kernel.
fn calls(program: &crate::program::Program, kernel: &str) -> bool {
    let graph = program.graph();
    (0..graph.len()).any(|at| graph.inst(at).custom_call_target == kernel)
}
