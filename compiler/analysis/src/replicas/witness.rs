//! Runs of all ranks, to see whether a result that the analysis suspects is not what the layout says.

use crate::trial::{fits, inputs};
use halite_ir::{FuncResult, Function, Interpreter, Layout, Module, Registry};
use halite_support::{Diagnostic, Name, Result, check_cancelled};
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor, Sharding};
use std::fmt;

/// A result that ranks did not compute as the layout says, on inputs that were tried.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ReplicaWitness {
    /// The result.
    pub result: Name,
    /// The rank at fault.
    pub rank: usize,
    /// The element that the rank has.
    pub found: f64,
    /// The element that it should have there.
    pub expected: f64,
}

impl fmt::Display for ReplicaWitness {
    /// ``tried: rank 1 has 0.25 in `loss`, expected 0.5``
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { result, rank, found, expected } = self;
        write!(f, "tried: rank {rank} has {found:.6} in `{result}`, expected {expected:.6}")
    }
}

/// The number of inputs that programs are tried on. A witness is a result that shows on all of them: where a choice is close, a
/// correct program may choose differently on ranks that sum in another order.
const TRIES: u64 = 2;

/// A result that differs between ranks on the tried inputs although the layout says that it is the same.
pub(super) fn unlike_results(module: &Module, registry: &Registry) -> Option<ReplicaWitness> {
    let (layout, entry) = (module.layout.as_deref()?, module.entry()?);
    let tolerance = tolerance(module);
    tried(module, registry, |_, ranks| {
        let alike = |(at, result): (usize, &FuncResult)| {
            let (parts, sharding) = layout.held(result, at, ranks);
            let whole = layout.joined(&parts, &sharding).ok()?;
            apart(layout, result, &sharding, &whole, &parts, tolerance)
        };
        let results = entry.results.iter().enumerate();
        results.filter(|(_, result)| layout.terms_of_result(result).is_none()).find_map(alike)
    })
}

/// A result of the ranks that is not that of the program of one device. `None` where no tried input shows one, where a program is too
/// large to be tried, and where the interpreter cannot run it.
pub fn unlike_whole(whole: &Module, module: &Module, registry: &Registry) -> Option<ReplicaWitness> {
    let (layout, entry) = (module.layout.as_deref()?, module.entry()?);
    let alone = whole.entry()?;
    if !fits(whole, registry, 1) || alone.results.len() != entry.results.len() {
        return None;
    }
    let tolerance = tolerance(whole).max(tolerance(module));
    tried(module, registry, |given, ranks| {
        let given = |name: &Name| entry.params.iter().position(|param| param.name == *name).map(|at| given[at].clone());
        let inputs: Vec<HostTensor> = alone.params.iter().map(|param| given(&param.name)).collect::<Option<_>>()?;
        let expected = Interpreter::of(whole, registry).run(alone, inputs).ok()?;
        let is_whole = |(at, result): (usize, &FuncResult)| {
            let (parts, sharding) = layout.held(result, at, ranks);
            apart(layout, result, &sharding, &expected[at], &parts, tolerance)
        };
        entry.results.iter().enumerate().find_map(is_whole)
    })
}

/// Runs all ranks on each try and calls `judge` with the whole inputs and the results of each rank. Returns the last witness, if every
/// try has one.
fn tried(
    module: &Module,
    registry: &Registry,
    judge: impl Fn(&[HostTensor], &[Vec<HostTensor>]) -> Option<ReplicaWitness>,
) -> Option<ReplicaWitness> {
    let mut shown = None;
    for (given, results) in runs(module, registry, module.entry()?)? {
        shown = Some(judge(&given, &results)?);
    }
    shown
}

/// The results of all ranks on whole inputs, for each try, by the entry of a module or by one that shows other values; `None` where it
/// cannot be run.
pub(super) fn ran(module: &Module, registry: &Registry, entry: &Function) -> Option<Vec<Vec<Vec<HostTensor>>>> {
    Some(runs(module, registry, entry)?.into_iter().map(|(_, results)| results).collect())
}

/// Whole inputs, and the results of each rank on its part of them.
type Run = (Vec<HostTensor>, Vec<Vec<HostTensor>>);

fn runs(module: &Module, registry: &Registry, entry: &Function) -> Option<Vec<Run>> {
    let layout = module.layout.as_deref()?;
    let ranks = layout.mesh.num_ranks();
    if !fits(module, registry, ranks) {
        return None;
    }
    let run = |seed: u64| {
        let given = given(module, seed)?;
        let results = on_ranks(module, registry, entry, &given).ok()?;
        Some((given, results))
    };
    (0..TRIES).map(run).collect()
}

/// Whole inputs of a module of ranks; `None` where it has no layout.
pub(super) fn given(module: &Module, seed: u64) -> Option<Vec<HostTensor>> {
    let whole = module.layout.as_deref()?.whole_signature(module.entry()?.clone());
    Some(inputs(whole.params.iter().map(|param| (param, whole.ty(param.value))), seed))
}

/// The results of each rank on whole inputs; `None` where they cannot be run.
pub(super) fn ran_on(module: &Module, registry: &Registry, given: &[HostTensor]) -> Option<Vec<Vec<HostTensor>>> {
    let layout = module.layout.as_deref()?;
    let is_small = fits(module, registry, layout.mesh.num_ranks());
    is_small.then(|| on_ranks(module, registry, module.entry()?, given).ok()).flatten()
}

fn on_ranks(
    module: &Module,
    registry: &Registry,
    entry: &Function,
    given: &[HostTensor],
) -> Result<Vec<Vec<HostTensor>>> {
    check_cancelled()?;
    let layout = module.layout.as_deref().ok_or_else(|| Diagnostic::bug("ranks without a layout"))?;
    let shards = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(entry, given, rank));
    Interpreter::of(module, registry).run_ranks(entry, shards.collect::<Result<Vec<_>>>()?)
}

/// The first rank whose part of a result is not that of the whole.
fn apart(
    layout: &Layout,
    result: &FuncResult,
    sharding: &Sharding,
    whole: &HostTensor,
    parts: &[HostTensor],
    tolerance: f64,
) -> Option<ReplicaWitness> {
    let scale = difference(whole, whole).scale;
    let is_apart = |(rank, part): (usize, &HostTensor)| {
        let expected = sharding.shard(&layout.mesh, whole, rank).ok().filter(|own| own.len() == part.len())?;
        let found = difference(part, &expected);
        let (own, right) = (part.f64s().get(found.at).copied()?, expected.f64s().get(found.at).copied()?);
        let is_wrong = own.is_finite() && right.is_finite() && found.max_abs > tolerance * scale.max(f64::MIN_POSITIVE);
        let name = || result.name.clone();
        is_wrong.then(|| ReplicaWitness { result: name(), rank, found: own, expected: right })
    };
    parts.iter().enumerate().find_map(is_apart)
}

/// The largest allowed difference of results, relative to their largest element: 64 times the roundoff of the narrowest floating-point
/// type of a program, for sums in another order.
pub(super) fn tolerance(module: &Module) -> f64 {
    let types = |function: &Function| -> Vec<DType> {
        let reals = function.values.iter().map(|value| value.ty.dtype()).filter(|dtype| dtype.is_float());
        reals.collect()
    };
    let all = module.functions.iter().flat_map(types);
    64.0 * all.map(DType::unit_roundoff).fold(f64::EPSILON, f64::max)
}
