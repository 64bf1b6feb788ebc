//! Estimates of the device memory and the machine instructions that a module needs on a core.
//!
//! Memory of arguments, outputs and aliases is exact. Temporaries are estimated by following what a compiler does:
//!
//! 1. Calls are inlined, except those that stay calls, which are estimated by themselves. Instructions that only rename a value are
//!    dropped (`graph`).
//! 2. Arithmetic and movements of elements run where they are read and store nothing, unless several readers share something
//!    that is costly to compute again. Products, reductions, gathers, scatters, concatenations, collectives and kernels read
//!    what is stored and store their result (`storage`).
//! 3. Steps run in some order (`schedule`). The result of a step lives until its last reader ran, and the last reader takes its place
//!    if it has the same size (`liveness`).
//!
//! Steps 2 and 3 differ between compilers in the few ways that a [`Backend`] lists. CPU XLA is the only one that can be asked,
//! so the model is held to what it reports; for Neuron the same model is used with other settings, and cannot be checked here.

mod backend;
mod cost;
mod graph;
mod instructions;
mod kind;
mod layer;
mod liveness;
mod provenance;
mod schedule;
mod storage;
pub mod time;
mod work;

pub use backend::{Backend, Order};
pub use cost::InstructionCosts;
use graph::{Class, Graph, is_kept};
use halite_bundle::estimate::{Estimate, MemoryByKind, MemoryEstimate, MemoryKind};
use halite_hlo::graph::{Budget, Graph as Hlo};
use halite_hlo::proto::HloModuleProto;
use halite_support::{Diagnostic, Result, codes};
use kind::Kinds;
use liveness::{Change, Liveness};
pub use provenance::{Basis, Provenance};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use storage::{StepId, Steps};

/// The parameters of an estimate.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Assumptions about the compiler.
    pub backend: Backend,
    /// The kind of data that each parameter holds, in order; [`MemoryKind::Arguments`] for those beyond.
    pub arguments: &'a [MemoryKind],
    /// The cost of work in instructions; with `None` no instructions are counted.
    pub costs: Option<&'a InstructionCosts>,
}

/// An estimate, with the memory of each step that it was made from.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Analysis {
    /// The estimate, not yet compared with what a core has.
    pub estimate: Estimate,
    /// The memory that is live while each step runs, by kind, in the order of execution.
    pub timeline: Vec<MemoryByKind>,
    /// The layer of each of these steps, by the number in its scope, as in `model.layers.3`; `None` outside layers and in the update.
    pub layers: Vec<Option<u32>>,
    /// The step with which the backward begins.
    pub backward_at: Option<usize>,
}

/// Estimates what a sound module needs ([`halite_hlo::check`]). Takes time in proportion to the module with its calls
/// entered, up to a bound.
///
/// # Errors
/// When the module has no entry, calls itself, has a type of unknown size, or is too large with its calls entered.
pub fn analyze(hlo: &Hlo, question: Question<'_>) -> Result<Analysis> {
    let entry = hlo.entry_number().ok_or_else(|| {
        Diagnostic::error(codes::FILE, "the HLO module has no entry")
            .help("give a module that `halite hlo check` takes")
    })?;
    let (mut budget, mut unknown) = (Budget::default(), BTreeSet::new());
    let callees = callees(hlo, question.backend, &mut budget, &mut unknown)?;
    let graph = Graph::new(hlo, entry, question.backend.keeps_calls, &mut budget)?;
    let steps = storage::steps(&graph, question.backend, &mut budget)?;
    let order = schedule::schedule(&steps, question.backend.order);
    let aliases = Aliases::of(hlo.module());
    let mut liveness = Liveness::new(&steps, &order);
    if question.backend.borrows_results {
        liveness.borrow_results(&graph, &aliases.results);
    }
    let kinds = Kinds::new(&graph, &steps, &order, &liveness, question.arguments);
    let (resident, mut memory) = resident(&graph, &aliases, &kinds);
    let timeline = timeline(&graph, &steps, &liveness, &kinds, Held { resident, callees: &callees.needs });
    let temporaries = |live: &MemoryByKind| live.total().saturating_sub(resident.total());
    memory.peak = resident;
    for live in &timeline {
        if temporaries(live) > memory.temporaries {
            (memory.temporaries, memory.peak) = (temporaries(live), *live);
        }
    }
    let instructions = question.costs.map(|costs| instructions::count(&graph, &steps, costs)).unwrap_or_default();
    let work = work::count(&graph, &callees.work);
    unknown.extend(&graph.unknown);
    let unknown = unknown.into_iter().map(str::to_owned).collect();
    let estimate = Estimate { memory, instructions, work, unknown, fit: None };
    let of_step = |step: &StepId| if kinds.is_of_update(*step) { None } else { layer::of(&graph, &steps, *step) };
    let layers = order.iter().map(of_step).collect();
    Ok(Analysis { estimate, timeline, layers, backward_at: kinds.backward_at })
}

/// Computations that stay calls, by their number.
#[derive(Default)]
struct Callees {
    /// The memory in bytes that each needs beside the operands and results of a call.
    needs: FxHashMap<u32, u64>,
    /// The work of each.
    work: work::OfCallees,
}

/// The memory and the work of each kept callee.
fn callees<'m>(
    hlo: &'m Hlo,
    backend: Backend,
    budget: &mut Budget,
    unknown: &mut BTreeSet<&'m str>,
) -> Result<Callees> {
    let mut callees = Callees::default();
    if !backend.keeps_calls {
        return Ok(callees);
    }
    let calls = (0..hlo.len()).filter(|&at| is_kept(hlo, at));
    // Callees stand before callers.
    let kept: BTreeSet<usize> = calls.filter_map(|at| hlo.callee(at, 0)).collect();
    for computation in kept {
        let graph = Graph::new(hlo, computation, true, budget)?;
        let steps = storage::steps(&graph, backend, budget)?;
        let order = schedule::schedule(&steps, backend.order);
        let liveness = Liveness::new(&steps, &order);
        let (mut live, mut most) = (0_u64, 0);
        liveness.walk(|change| match change {
            Change::Begins(step) => live += steps.steps[step as usize].bytes,
            Change::Ends(step) => live -= steps.steps[step as usize].bytes,
            Change::Runs(step) => most = most.max(live + workspace(&graph, &steps, step, &callees.needs)),
        });
        unknown.extend(&graph.unknown);
        let work = work::count(&graph, &callees.work);
        callees.needs.insert(computation as u32, most);
        callees.work.insert(computation as u32, work);
    }
    Ok(callees)
}

/// The memory in bytes that a step needs while it runs if it is a call. A call with several results needs it while the last one is
/// written.
fn workspace(graph: &Graph<'_>, steps: &Steps, step: StepId, callees: &FxHashMap<u32, u64>) -> u64 {
    match graph.value(steps.steps[step as usize].value).class {
        Class::Call { callee, is_last: true } => callees.get(&callee).copied().unwrap_or_default(),
        _ => 0,
    }
}

/// The results that take the memory of parameters.
struct Aliases {
    results: FxHashSet<u32>,
}

impl Aliases {
    fn of(module: &HloModuleProto) -> Self {
        let entries = module.input_output_alias.iter().flat_map(|aliases| &aliases.entries);
        let index = |path: &[i64]| path.first().map_or(0, |index| *index as u32);
        Self { results: entries.map(|entry| index(&entry.output_shape_index)).collect() }
    }
}

/// The memory that is live throughout: parameters, and results that are not aliased to them.
fn resident(graph: &Graph<'_>, aliases: &Aliases, kinds: &Kinds<'_>) -> (MemoryByKind, MemoryEstimate) {
    let (mut resident, mut memory) = (MemoryByKind::default(), MemoryEstimate::default());
    for (index, &parameter) in graph.parameters().iter().enumerate() {
        let bytes = graph.value(parameter).bytes();
        memory.arguments += bytes;
        *resident.of_mut(kinds.argument(index)) += bytes;
    }
    for (index, &result) in graph.results().iter().enumerate() {
        let bytes = graph.value(result).bytes();
        memory.outputs += bytes;
        if aliases.results.contains(&(index as u32)) {
            memory.aliased += bytes;
        } else {
            resident.results += bytes;
        }
    }
    (resident, memory)
}

/// Memory that is live beside the results of steps: the resident memory, and the bytes that a call of each kept callee takes.
struct Held<'a> {
    resident: MemoryByKind,
    callees: &'a FxHashMap<u32, u64>,
}

/// The memory that is live while each step runs, by kind.
fn timeline(
    graph: &Graph<'_>,
    steps: &Steps,
    liveness: &Liveness<'_>,
    kinds: &Kinds<'_>,
    Held { resident, callees }: Held<'_>,
) -> Vec<MemoryByKind> {
    let mut live = resident;
    let mut timeline = Vec::with_capacity(steps.steps.len());
    liveness.walk(|change| match change {
        Change::Begins(step) => *live.of_mut(kinds.step(step)) += steps.steps[step as usize].bytes,
        Change::Ends(step) => *live.of_mut(kinds.step(step)) -= steps.steps[step as usize].bytes,
        Change::Runs(step) => {
            let own = workspace(graph, steps, step, callees);
            timeline.push(MemoryByKind { workspace: live.workspace + own, ..live });
        }
    });
    timeline
}
