//! `partition`.

mod decide;
mod delay;
mod delayed;
mod emit;
mod fact;
mod known;
mod make;
mod plan;
mod planner;
mod preference;
mod reshard;
mod seeds;
mod weights;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Milestone, Pass, PassCx, PassInfo, Relation};
use crate::transform::annotate_rounding::AnnotateRounding;
use crate::transform::expand_composites::expand;
use delay::delayed;
use delayed::Delayed;
use fact::{Fact, Placement, SubAxes};
use halite_ir::composites::Transfer;
use halite_ir::{FuncId, Function, InferCx, Module, Param, ParamRole, function_wire_bytes};
use halite_recipe::{
    Divides, MeshAxis, Parallel, Recipe, RoundingMode, SHARDS_WEIGHTS, SrBy, SrSites, sub_axes_that_divide,
};
use halite_support::nearest::list;
use halite_support::units::counted;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{Mesh, Sharding};
use known::Functions;
use make::make;
use plan::{Given, Key, Plans};
use reshard::Reshard;
use rustc_hash::FxHashMap;
use seeds::{Seeds, Uneven};
pub(crate) use weights::PlaceWeights;

/// The name of the pass.
const PASS: &str = "partition";

/// Makes of a step that takes the whole batch the one that each rank of a mesh runs.
///
/// Weights and the batch have the placements of the recipe's layout. Every other value is placed where its instruction can be computed
/// without moving operands, or as its readers want it. Sums over a sharded dimension are partial sums on several ranks, and stay so
/// through linear ops until they are needed: then they are reduced, to shards at once where these are read. Weights that round stochastically
/// are rounded first, also where the stages of a pipeline have one rank each.
///
/// ```text
/// func @main(%x: f32[8,4] {batch}, %w: f32[4,6] {weight, ..}) -> (f32[8,4]) {
///   %h = dot_general %x, %w {contract = [1] x [0], ..} : f32[8,6]
///   %y = dot_general %h, %w {contract = [1] x [1], ..} : f32[8,4]
/// => on two ranks of `tensor`, which share the columns of `w`
/// func @main(%x: f32[8,4] {batch}, %w: f32[4,3] {weight, ..}) -> (f32[8,4]) {
///   %h = dot_general %x, %w {contract = [1] x [0], ..} : f32[8,3]
///   %0 = dot_general %h, %w {contract = [1] x [1], ..} : f32[8,4]
///   %y = all_reduce %0 {kind = sum, groups = [[0, 1]]} : f32[8,4]
/// ```
#[derive(Debug)]
pub(crate) struct Partition;

impl Pass for Partition {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "make the step of one rank of a mesh", Relation::Defines)
            .milestone(Milestone::Ranks)
            .example(golden!("partition" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        let mesh = recipe.ranks(cx.target.ranks.is_some())?;
        if module.layout.is_some() {
            return Ok(Changed::No);
        }
        if mesh.num_ranks() == 1 {
            // Each part of a pipeline rounds its weights by keys of its own, before functions are made of what stages update.
            let is_cut = recipe.stages() > 1 && !recipe.precision.rounds_everywhere();
            return if is_cut { AnnotateRounding.run(module, cx) } else { Ok(Changed::No) };
        }
        check_rounding(recipe, cx)?;
        // Where bits are made of the coordinates in the whole, shards are rounded by the bits of theirs.
        AnnotateRounding.run(module, cx)?;
        // Transfers are no computation: `split-stages` finds them in the program of a rank.
        expand(module, cx.registry, |op| Transfer::ends(op).is_none())?;
        let Placed { key, plans, delayed } = {
            let infer = InferCx { functions: &module.functions, registry: cx.registry };
            placed(&infer, &mesh, (recipe, cx))?
        };
        let reshard = Reshard { mesh: &mesh, reduce: recipe.precision.reduce };
        let other = delayed.map(|plans| -> Result<Module> {
            let mut module = module.clone();
            emit::emit(&mut module, cx.registry, reshard, (&plans, &key))?;
            Ok(module)
        });
        emit::emit(module, cx.registry, reshard, (&plans, &key))?;
        if let Some(other) = other.transpose()?.filter(|other| sent(other) < sent(module)) {
            *module = other;
        }
        Ok(Changed::Yes)
    }
}

/// The bytes that a rank sends in a run of a module.
fn sent(module: &Module) -> u64 {
    function_wire_bytes(module).last().copied().unwrap_or(0)
}

/// # Errors
/// When ranks round at random, each by bits of its own: copies of a value on several would drift apart. Also when functions of the
/// model do, which have no streams of bits before they are written in the place of their calls.
fn check_rounding(recipe: &Recipe, cx: &PassCx<'_>) -> Result<()> {
    let precision = &recipe.precision;
    if precision.rounding != RoundingMode::Sr {
        return Ok(());
    }
    if precision.sr.by == SrBy::Switch && cx.target.rounds_by_switch {
        let message =
            "the switch of the hardware rounds each rank's copy of a weight by other bits: copies would drift apart";
        return Err(Diagnostic::error(codes::RECIPE_CLASH, message)
            .key("precision.sr.by")
            .help("choose `precision.sr.by = \"dither\"`, whose bits are the same on all ranks"));
    }
    if precision.sr.sites == SrSites::All {
        let message = "on several ranks stochastic rounding is done where weights are written, and nowhere else";
        return Err(Diagnostic::error(codes::RECIPE_CLASH, message)
            .key("precision.sr.sites")
            .help("choose `precision.sr.sites = \"weight_write\"`"));
    }
    Ok(())
}

/// Says what several ranks hold and compute, because they do not divide it.
fn uneven(sizes: &Uneven, parallel: &Parallel) -> Diagnostic {
    let axes = MeshAxis::that_divide(Divides::Weights).filter(|&axis| parallel.degree(axis) > 1);
    let axes: Vec<MeshAxis> = axes.collect();
    let along = list(&axes.iter().map(|axis| axis.name()).collect::<Vec<_>>());
    let ranks = parallel.ranks_that_divide(Divides::Weights);
    let listed: Vec<String> = sizes.iter().map(|(name, (size, _))| format!("`{name}` ({size})")).collect();
    let message = format!("the {ranks} ranks of {along} do not share {} evenly", listed.join(", "));
    let held = |(name, (_, parts)): (&Name, &(usize, usize))| match parts {
        1 => format!("each rank holds and computes all of `{name}`"),
        _ => format!("`{name}` is held and computed in {parts} parts, each by several ranks"),
    };
    let notes = sizes.iter().map(held);
    let key = axes.first().map_or_else(|| "parallel".to_owned(), |axis| axis.key());
    let warning = Diagnostic::warning(codes::RECIPE_CLASH, message).key(key);
    notes
        .fold(warning, Diagnostic::note)
        .help("choose a number of ranks that divides them, or is a multiple of those that are smaller")
}

/// Says which weights ranks that store parts store whole, or in fewer parts than they are, because they do not divide them.
fn whole(weights: &[&Name], parallel: &Parallel) -> Diagnostic {
    let axes: Vec<MeshAxis> = parallel.axes_of_zero(SHARDS_WEIGHTS).filter(|&axis| parallel.degree(axis) > 1).collect();
    let along = list(&axes.iter().map(|axis| axis.name()).collect::<Vec<_>>());
    let ranks: u64 = axes.iter().map(|&axis| u64::from(parallel.degree(axis))).product();
    let (first, others) = (&weights[0], weights.len() - 1);
    let others = if others == 0 { String::new() } else { format!(" and {}", counted(others, "other weight")) };
    let message = format!("the {ranks} ranks of {along} do not share `{first}`{others} evenly");
    let key = axes.first().map_or_else(|| "parallel".to_owned(), |axis| axis.key());
    Diagnostic::warning(codes::RECIPE_CLASH, message)
        .key(key)
        .note("such a weight is stored in fewer parts, or whole on each rank")
        .help("choose a number of ranks that divides a dimension of each; `halite inspect --placement` shows how weights lie")
}

/// The placements of a module.
struct Placed {
    /// The entry, with the placements of its parameters.
    key: Key,
    /// The plans of all functions that run.
    plans: Plans,
    /// Those where partial sums are passed on to several readers, if any are.
    delayed: Option<Plans>,
}

fn placed(cx: &InferCx<'_>, mesh: &Mesh, (recipe, pass): (&Recipe, &PassCx<'_>)) -> Result<Placed> {
    let parallel = &recipe.parallel.clone().unwrap_or_default();
    let seeds = Seeds::new(mesh, parallel, cx.functions)?;
    let apart = seeds.uneven()?;
    if !apart.is_empty() {
        pass.warn(|| uneven(&apart, parallel));
    }
    let weights = seeds.weights()?;
    let undivided = seeds.undivided(&weights);
    if !undivided.is_empty() {
        pass.warn(|| whole(&undivided, parallel));
    }
    let functions = Functions::default();
    let (mut given, key) = given(cx, &seeds, (recipe, &functions), &weights);
    let plans = planned(cx, &given, &key)?;
    given.delayed = delayed(cx, &given, (&plans, &key));
    let delayed = if given.delayed.is_empty() { None } else { Some(planned(cx, &given, &key)?) };
    Ok(Placed { key, plans, delayed })
}

/// The plans of the entry and of all functions that it calls.
fn planned(cx: &InferCx<'_>, given: &Given<'_>, key: &Key) -> Result<Plans> {
    let mut plans = Plans::default();
    make(&mut plans, given, cx, key.clone())?;
    Ok(plans)
}

/// The inputs of planning where weights are placed so, and the key of the entry.
fn given<'a>(
    cx: &InferCx<'_>,
    seeds: &Seeds<'a>,
    (recipe, functions): (&Recipe, &'a Functions),
    weights: &[Sharding],
) -> (Given<'a>, Key) {
    let (entry, mesh) = (seeds.entry, seeds.mesh);
    let at = with_state(seeds, weights);
    let replaced = entry.params.iter().zip(&at).map(|(param, at)| (param.name.to_string(), at.clone()));
    let given = Given {
        mesh,
        functions,
        delayed: Delayed::default(),
        reduce: recipe.precision.reduce,
        along_sequence: if seeds.parallel.sequence {
            sub_axes_that_divide(mesh, Divides::Weights).collect()
        } else {
            SubAxes::new()
        },
        state: replaced.collect(),
    };
    let function = FuncId::new(cx.functions.len() - 1);
    (given, Key { function, params: facts(mesh, entry, &at), preferences: Vec::new() })
}

/// The placement in which each parameter is stored; that of state of a weight follows the weight.
fn with_state(seeds: &Seeds<'_>, weights: &[Sharding]) -> Vec<Placement> {
    let entry = seeds.entry;
    let named: FxHashMap<&str, usize> = entry.params.iter().enumerate().map(|(at, param)| (&*param.name, at)).collect();
    let stored = |(param, weight): (&Param, &Sharding)| match &param.role {
        ParamRole::Weight(_) => seeds.stored(weight, entry.ty(param.value)),
        _ => weight.clone(),
    };
    let stored: Vec<Sharding> = entry.params.iter().zip(weights).map(stored).collect();
    let place = |(at, param): (usize, &Param)| {
        let of = param.role.weight_of().and_then(|of| named.get(of).copied());
        let shape = entry.ty(param.value).shape();
        let is_like = |&of: &usize| entry.ty(entry.params[of].value).shape() == shape;
        seeds.state(&param.role, &stored[of.filter(is_like).unwrap_or(at)], shape)
    };
    entry.params.iter().enumerate().map(place).collect()
}

/// The facts about the parameters of the entry.
fn facts(mesh: &Mesh, entry: &Function, at: &[Placement]) -> Vec<Fact> {
    let is_weight = |param: &Param| matches!(param.role, ParamRole::Weight(_));
    let fact = |(param, place): (&Param, &Placement)| Fact {
        place: place.clone(),
        stationary: is_weight(param),
        stored: sub_axes_that_divide(mesh, Divides::Batch)
            .filter(|&sub_axis| is_weight(param) && place.sharding.find(sub_axis).is_some())
            .collect(),
        zero: false,
        sequence: (param.role == ParamRole::Batch && place.sharding.0.len() > 1).then_some(1),
    };
    entry.params.iter().zip(at).map(fact).collect()
}
