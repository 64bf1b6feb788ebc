//! HLO: decoded, checked, held to the rules of targets, printed, written as StableHLO and estimated.

use crate::judge::{Verdict, refused, said};
use crate::random::Random;
use crate::repository;
use crate::target::{Target, WIRE};
use halite::Session;
use halite::compile::CompileOptions;
use halite_analysis::{Moves, ReplicaFinding, replicas};
use halite_hlo::CheckedHlo;
use halite_hlo::graph::Graph;
use halite_ir::text::parse;
use halite_ir::{LowerOptions, Registry};
use halite_lift::{claims, lift};
use halite_neuron::Generation;
use halite_neuron::legality::Profile;
use halite_neuron::report;
use halite_recipe::TargetName;
use halite_stablehlo::{Form, Functions};
use halite_support::{Diagnostic, Diagnostics, FileId, Severity, SourceMap};
use halite_tensor::Mesh;
use halite_test_kit::xla;
use halite_tests::legality;

pub(crate) const TARGET: Target = Target { name: "hlo", share: 80, seeds, prepare: |_| Box::new(run), ..WIRE };

/// The modules of goldens, of the rules of targets, of JAX and of a small recipe for the CPU and for Trainium.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let registry = Registry::builtin();
    let goldens =
        repository::contents(&repository::files("tests/golden/lower", ".ir")).into_iter().filter_map(|text| {
            let text = String::from_utf8(text).ok()?;
            let module = parse(&text, FileId::of("m.ir", &text), &registry).ok()?;
            xla::hlo(&module, &registry, LowerOptions::default()).ok()
        });
    let rules = legality::cases().flat_map(|case| [(case.breaks)(), (case.keeps)()]);
    let rules = rules.filter_map(Result::ok).map(|module| halite_hlo::encode(&module));
    let jax = repository::contents(&repository::files("tests/jax/fixtures", ".hlo.pb"));
    goldens.chain(rules).chain(jax).chain(compiled()).collect()
}

fn compiled() -> Vec<Vec<u8>> {
    let mut session = Session::new();
    let mut modules = Vec::new();
    for target in ["cpu", "trn1"] {
        let overrides = ["layers=1", "hidden=8", "ffn=8", "heads=2", "vocab=16", "batch=1", "seq=4"].map(str::to_owned);
        let overrides = [overrides.to_vec(), vec![format!("target={target}")]].concat();
        let Ok(source) = session.load("tiny", &overrides) else { continue };
        let Ok(compiled) = session.compile(&source, &CompileOptions::default()) else { continue };
        modules.extend(compiled.bundle.files.into_values());
    }
    modules
}

/// A sound module, or what is wrong with it.
pub(crate) fn sound(input: &[u8]) -> Result<Graph, Diagnostics> {
    let graph = Graph::new(halite_hlo::decode(input)?);
    let faults: Diagnostics =
        halite_hlo::check(&graph).into_iter().filter(|fault| fault.severity() >= Severity::Error).collect();
    if faults.is_empty() { Ok(graph) } else { Err(faults) }
}

fn run(input: &[u8]) -> Verdict {
    let sources = SourceMap::new();
    let mut random = Random::of_content(input);
    let Ok(module) = halite_hlo::decode(input) else {
        return sound(input).err().map_or(Ok(false), |found| refused(&found, &sources));
    };
    let encoded = halite_hlo::encode(&module);
    // Bytes are compared, because a NaN is not equal to itself.
    if halite_hlo::decode(&encoded).map(|again| halite_hlo::encode(&again)).as_ref() != Ok(&encoded) {
        return Err("another module is decoded than was encoded".to_owned());
    }
    // What is not sound is looked at too: `hlo check` shows both.
    let generation = *random.pick(&[Generation::Trn1, Generation::Trn2]);
    halite_hlo::text::print(&module);
    let graph = Graph::new(module);
    let report = report::report(&graph, &Profile::new(generation));
    said(&report.faults, &sources)?;
    said(&on_ranks(&graph), &sources)?;
    if report.faults.is_empty() {
        said(&written(&graph), &sources)?;
    }
    let target = if random.once_in(3) { TargetName::default() } else { generation.into() };
    let targets = halite_targets::builtin();
    match targets.get(&target).and_then(|known| known.analyze(&graph, &target, &[], &[])) {
        Err(error) => refused(&[error], &sources),
        Ok(_) => Ok(report.faults.is_empty()),
    }
}

/// The errors of writing a sound module as StableHLO, in either form.
fn written(graph: &Graph) -> Diagnostics {
    let functions = Functions { prefix: "step", num_partitions: 8, first_channel: 1 };
    let forms = [Form::Program { num_replicas: 2 }, Form::Functions(functions)];
    let print = |form| CheckedHlo::new(graph.module().clone()).and_then(|hlo| halite_stablehlo::print(&hlo, form));
    forms.into_iter().filter_map(|form| print(form).err()).collect()
}

/// The diagnostics of a module as the program of one rank.
fn on_ranks(graph: &Graph) -> Diagnostics {
    let mesh = Mesh::new([("data", 2), ("tensor", 4)]);
    let laid = mesh.and_then(|mesh| {
        let mut lifted = lift(graph, mesh.num_ranks())?;
        let entry = lifted.module.entry().ok_or_else(|| Diagnostic::bug("a module without an entry"))?;
        let claims = claims(graph, entry, &mesh)?;
        lifted.lay(&mesh, &claims)?;
        Ok(lifted)
    });
    match laid {
        Ok(lifted) => replicas(&lifted.module, Moves::Unwritten).iter().map(ReplicaFinding::not_followed).collect(),
        Err(refused) => refused.into(),
    }
}
