//! `place-weights`.

use super::known::Functions;
use super::seeds::Seeds;
use super::{given, planned};
use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::expand_composites::expand;
use halite_ir::composites::Transfer;
use halite_ir::{InferCx, Module, Param, ParamRole, Phase};
use halite_recipe::{Divides, MeshAxis, Recipe, sub_axes_that_divide};
use halite_support::{Diagnostic, Name, Result};
use halite_tensor::{Mesh, Sharding};
use std::sync::Arc;

/// The name of the pass.
const PASS: &str = "place-weights";

/// The most rounds in which weights are put where they are read: each may move what others prefer.
const ROUNDS: usize = 4;

/// Places weights of which neither the recipe nor the names of dimensions say anything, where the products of the model prefer them. All
/// programs of a step are made of the model that says so, also those that have no products, and store such a weight alike.
///
/// ```text
/// func @main(%x: f32[8,4] {batch}, %w: f32[4,6] {weight, ..}, %v: f32[6,4] {weight, .., dims = [ffn(6), ..]}) -> (f32[8,4]) {
///   %h = dot_general %x, %w {contract = [1] x [0], ..} : f32[8,6]
///   %y = dot_general %h, %v {contract = [1] x [0], ..} : f32[8,4]
/// =>
/// func @main(%x: f32[8,4] {batch}, %w: f32[4,6] {weight, .., place = ["", "tensor"]}, ..
/// ```
#[derive(Debug)]
pub(crate) struct PlaceWeights;

impl Pass for PlaceWeights {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "place weights that nothing else places where they are read", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("place_weights" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let Some(recipe) = cx.recipe else { return Ok(Changed::No) };
        let mesh = recipe.ranks(cx.target.ranks.is_some())?;
        if sub_axes_that_divide(&mesh, Divides::Weights).next().is_none() {
            return Ok(Changed::No);
        }
        // Transfers are no computation.
        let mut expanded = module.clone();
        expand(&mut expanded, cx.registry, |op| Transfer::ends(op).is_none())?;
        let infer = InferCx { functions: &expanded.functions, registry: cx.registry };
        let places = places(&infer, &mesh, recipe)?;
        let mut entry = module.take_entry()?;
        let mut changed = false;
        for (param, place) in entry.params.iter_mut().zip(places) {
            if let (ParamRole::Weight(info), Some(place)) = (&mut param.role, place) {
                info.place = Some(place);
                changed = true;
            }
        }
        module.functions.push(entry);
        Ok(Changed::when(changed))
    }
}

/// The axes of the dimensions of each parameter of the entry that is a weight which nothing places, and that readers want sharded.
fn places(cx: &InferCx<'_>, mesh: &Mesh, recipe: &Recipe) -> Result<Vec<Option<Arc<[Name]>>>> {
    let parallel = &recipe.parallel.clone().unwrap_or_default();
    let seeds = Seeds::new(mesh, parallel, cx.functions)?;
    let entry = seeds.entry;
    let mut weights = seeds.weights()?;
    let mut places = vec![None; entry.params.len()];
    let functions = Functions::default();
    for _ in 0..ROUNDS {
        let (given, key) = given(cx, &seeds, (recipe, &functions), &weights);
        let plans = planned(cx, &given, &key)?;
        let plan = plans.get(&key).ok_or_else(|| Diagnostic::bug("the entry has no plan"))?;
        let mut moved = false;
        for (at, param) in entry.params.iter().enumerate() {
            let (true, Some(wanted)) = (is_free(&seeds, param, &weights[at]), &plan.wanted[at]) else { continue };
            let wanted = sub_axes_that_divide(mesh, Divides::Batch).fold(wanted.clone(), Sharding::without);
            let Some((axes, sharding)) = along(&seeds, param, &wanted) else { continue };
            (places[at], weights[at], moved) = (Some(axes), sharding, true);
        }
        if !moved {
            break;
        }
    }
    Ok(places)
}

/// Whether a parameter is a weight that nothing shards, or places as it is.
fn is_free(seeds: &Seeds<'_>, param: &Param, sharding: &Sharding) -> bool {
    let ParamRole::Weight(info) = &param.role else { return false };
    sharding.is_replicated() && info.place.is_none() && !seeds.is_placed(param)
}

/// The axis that shards the dimension of a weight which is to be sharded, and the sharding along it.
fn along(seeds: &Seeds<'_>, param: &Param, wanted: &Sharding) -> Option<(Arc<[Name]>, Sharding)> {
    let dim = wanted.0.iter().position(|digits| !digits.is_empty())?;
    let shape = seeds.entry.ty(param.value).shape();
    let axes = MeshAxis::that_divide(Divides::Weights).map(|axis| {
        let axes: Arc<[Name]> =
            (0..shape.rank()).map(|at| Name::from(if at == dim { axis.name() } else { "" })).collect();
        let sharding = seeds.placed(Sharding::replicated(shape.rank()), shape, &axes);
        (axes, sharding)
    });
    axes.into_iter().find(|(_, sharding)| !sharding.is_replicated())
}
