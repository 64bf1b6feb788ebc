//! `clip`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::packed::by_rows;
use crate::transform::trained::{Joining, Objective, Set, VECTORS, collect, end_to_end, group_of, made};
use halite_ir::{Builder, FuncResult, GRAD_NORM, LocKind, Module, Phase, ResultRole, StepPart, Value, Values};
use halite_optim::scaled;
use halite_recipe::{Clip as Bound, Optimizer, REST, Recipe};
use halite_support::{Diagnostic, Name, Result, codes};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The name of the pass.
const PASS: &str = "clip";

/// The scope of sums of squares of layers.
const SQUARES: &str = "squares";

/// Keeps the quotient finite when the norm is zero; the value of the reference implementations.
const NORM_EPSILON: f64 = 1e-6;

/// Says by what each gradient is to be multiplied: the mean over the batch and the clip by a norm, in one factor.
///
/// The objective is a sum; gradients are divided by the count here and nowhere else, a count of 0 as 1. With `clip_norm` the
/// factor is `min(1, c / (norm + 1e-6)) / count` with the norm of all gradients, with `clip_group_norm` that with the norm of
/// those of each group, of the weights in no group too. With `clip_value` a gradient is replaced by that of the mean, each
/// element clamped, and its factor is 1. A group with `clip = false` has `1 / count` and counts in no norm of a clip.
///
/// Norms are those of the gradients of the mean; they count each element of the model once, however often it is stored. That
/// of all gradients, before any clip, becomes the metric `grad_norm`; with `metrics.group_norms` those of groups become metrics too.
///
/// ```text
/// (loss: f32[] {loss}, count: f32[] {count}, w: f32[4] {gradient = "w"})
/// =>
/// (.., scale.w: f32[] {scale = "w"}, grad_norm: f32[] {metric})
/// ```
#[derive(Debug)]
pub(crate) struct Clip;

impl Pass for Clip {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "say by what gradients are multiplied: mean and clip", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .example(golden!("clip" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        clip(module, cx, recipe)?;
        Ok(Changed::Yes)
    }
}

fn clip(module: &mut Module, cx: &PassCx<'_>, recipe: &Recipe) -> Result<()> {
    let (mut b, mut results) = Builder::on_entry(module, cx.registry)?;
    let is_scaled = |result: &&FuncResult| matches!(result.role, ResultRole::Scale(_));
    if let Some(result) = results.iter().find(is_scaled) {
        return Err(made(PASS, &format!("the entry has the result `{}` already", result.name)));
    }
    let weights = collect(PASS, &b, &results, &recipe.precision)?;
    let outer = b.enter(LocKind::Part(StepPart::Update));
    let objective = Objective::emit(&mut b, &results)?;
    let joining = Joining::of(recipe, cx.target)?;
    let parts = parts(joining.sets(&b, weights, |_| true), &recipe.optimizer)?;
    let groups = if recipe.metrics.group_norms {
        group_norms(&mut b, &parts, objective.divisor, joining.by_layer)?
    } else {
        Vec::new()
    };
    let (norm, clipped) = clip_parts(&mut b, parts, objective.divisor, joining.by_layer)?;
    b.set_loc(outer);
    for result in &mut results {
        if let ResultRole::Gradient(of) = &result.role {
            result.value = clipped.get(of).map_or(result.value, |own| own.gradient);
        }
    }
    b.results(results);
    for (name, Clipped { scale, .. }) in clipped {
        b.named_result(scale, format!("scale.{name}"), ResultRole::Scale(name));
    }
    b.named_result(norm, GRAD_NORM, ResultRole::Metric);
    for (group, norm) in groups {
        b.named_result(norm, format!("{GRAD_NORM}.{group}"), ResultRole::Metric);
    }
    b.finish();
    Ok(())
}

/// Weights that are clipped as one.
struct Part {
    /// The bound on their gradients, if there is one.
    bound: Option<Bound>,
    sets: Vec<Set>,
}

/// Weights by what clips them: those of a group apart where each has a norm of its own.
///
/// # Errors
/// When a weight is in a group that the recipe does not have.
fn parts(sets: Vec<Set>, optimizer: &Optimizer) -> Result<Vec<Part>> {
    let mut parts: IndexMap<(bool, Option<Name>), Part, FxBuildHasher> = IndexMap::default();
    for set in sets {
        let group = group_of(PASS, optimizer, &set[0])?;
        let bound = optimizer.clip.filter(|_| group.is_none_or(|group| group.clip));
        let apart = set[0].group.clone().filter(|_| matches!(bound, Some(Bound::GroupNorm(_))));
        let part = parts.entry((bound.is_some(), apart)).or_insert_with(|| Part { bound, sets: Vec::new() });
        part.sets.push(set);
    }
    Ok(parts.into_values().collect())
}

/// The norms of the gradients of each group, and of the weights in none. `cse` has them share what the norm of all is made of.
fn group_norms(b: &mut Builder<'_>, parts: &[Part], count: Value, by_layer: bool) -> Result<Vec<(Name, Value)>> {
    let mut groups: IndexMap<Name, Vec<&Set>, FxBuildHasher> = IndexMap::default();
    for set in parts.iter().flat_map(|part| &part.sets) {
        groups.entry(set[0].group.clone().unwrap_or_else(|| REST.into())).or_default().push(set);
    }
    let norm = |(group, sets): (Name, Vec<&Set>)| {
        let squares = squares(b, sets, count, by_layer)?;
        Ok((group, root(b, squares, count)?))
    };
    groups.into_iter().map(norm).collect()
}

/// The gradient by a weight and the factor that multiplies it, after clipping.
struct Clipped {
    gradient: Value,
    scale: Value,
}

/// The norm of all gradients, and each clipped gradient, in the order of the weights.
fn clip_parts(
    b: &mut Builder<'_>,
    parts: Vec<Part>,
    count: Value,
    by_layer: bool,
) -> Result<(Value, IndexMap<Name, Clipped, FxBuildHasher>)> {
    let squares = parts.iter().map(|part| squares(b, &part.sets, count, by_layer)).collect::<Result<Values>>()?;
    let total = squares.iter().copied().map(Ok).reduce(|total, own| b.add(total?, own?));
    let total = total.ok_or_else(|| {
        let error = Diagnostic::error(codes::PIPELINE, format!("`{PASS}`: the entry has no weight to train"));
        error.help("give it a weight that is not frozen")
    })??;
    let norm = root(b, total, count)?;
    let mut clipped = Vec::new();
    for (part, squares) in parts.into_iter().zip(squares) {
        let max_norm = match part.bound {
            Some(Bound::Norm(max_norm) | Bound::GroupNorm(max_norm)) => Some(max_norm),
            Some(Bound::Value(_)) | None => None,
        };
        let own = if max_norm.is_none() || squares == total { norm } else { root(b, squares, count)? };
        let scale = scale(b, own, count, max_norm)?;
        for weight in part.sets.into_iter().flatten() {
            let own = match part.bound {
                Some(Bound::Value(most)) => clamped(b, weight.gradient, scale, most)?,
                _ => Clipped { gradient: weight.gradient, scale },
            };
            clipped.push((weight.order, weight.name, own));
        }
    }
    clipped.sort_by_key(|&(order, ..)| order);
    Ok((norm, clipped.into_iter().map(|(_, name, own)| (name, own)).collect()))
}

/// The sum of the squares of all gradients, by the sum over the batch, in the type of `count`; that of each layer first, where
/// what is done for a layer becomes a function.
fn squares<'a>(
    b: &mut Builder<'_>,
    sets: impl IntoIterator<Item = &'a Set>,
    count: Value,
    by_layer: bool,
) -> Result<Value> {
    let sets: Vec<&Set> = sets.into_iter().collect();
    let layer = |set: &Set| set[0].layer.clone().filter(|_| by_layer);
    let mut total = None;
    for sets in sets.chunk_by(|left, right| layer(left).is_some() && layer(left) == layer(right)) {
        let Some(layer) = sets.first().and_then(|set| layer(set)) else {
            total = add_squares(b, sets, count, total)?;
            continue;
        };
        let outer = b.enter_scope(SQUARES);
        let inner = b.enter(LocKind::Layer(layer));
        let own = add_squares(b, sets, count, None)?;
        b.set_loc(inner);
        total = match (total, own) {
            (Some(total), Some(own)) => Some(b.add(total, own)?),
            (total, own) => total.or(own),
        };
        b.set_loc(outer);
    }
    total.ok_or_else(|| Diagnostic::bug("gradients to clip without weights"))
}

/// Adds to a sum the squares of the gradients of some sets.
fn add_squares(b: &mut Builder<'_>, sets: &[&Set], count: Value, mut total: Option<Value>) -> Result<Option<Value>> {
    for set in sets {
        for gradient in stored_once(b, set)? {
            let gradient = b.convert(gradient, b.dtype(count))?;
            let square = b.multiply(gradient, gradient)?;
            let dims: Vec<usize> = (0..b.ty(square).rank()).collect();
            let sum = if dims.is_empty() { square } else { b.reduce_sum(square, &dims)? };
            total = Some(match total {
                Some(total) => b.add(total, sum)?,
                None => sum,
            });
        }
    }
    Ok(total)
}

/// The norm of gradients of the mean.
fn root(b: &mut Builder<'_>, squares: Value, count: Value) -> Result<Value> {
    let root = b.sqrt(squares)?;
    b.divide(root, count)
}

/// `min(1, max_norm / (norm + 1e-6)) / count`.
fn scale(b: &mut Builder<'_>, norm: Value, count: Value, max_norm: Option<f64>) -> Result<Value> {
    let one = b.splat_like(count, 1.0)?;
    let clipped = match max_norm {
        Some(max_norm) => {
            let guarded = b.add_scalar(norm, NORM_EPSILON)?;
            let limit = b.splat_like(norm, max_norm)?;
            let ratio = b.divide(limit, guarded)?;
            b.minimum(one, ratio)?
        }
        None => one,
    };
    b.divide(clipped, count)
}

/// A gradient of the mean, each element between `-most` and `most`, in the type of scalar arithmetic.
fn clamped(b: &mut Builder<'_>, gradient: Value, scale: Value, most: f64) -> Result<Clipped> {
    let gradient = b.convert(gradient, b.dtype(scale))?;
    let mean = scaled(b, gradient, scale)?;
    let [low, high] = [b.splat_like(mean, -most)?, b.splat_like(mean, most)?];
    Ok(Clipped { gradient: b.clamp(low, mean, high)?, scale: b.splat_like(scale, 1.0)? })
}

/// The gradient of a set of weights; its parts where the weight stores elements of the model several times.
fn stored_once(b: &mut Builder<'_>, set: &Set) -> Result<Values> {
    let outer = b.enter_scope(VECTORS);
    let gradient = end_to_end(b, set, |weight| weight.gradient)?;
    b.set_loc(outer);
    match set[0].packing.as_deref().filter(|packing| packing.has_copies()) {
        None => Ok(Values::from_slice(&[gradient])),
        Some(packing) => by_rows(b, packing, gradient),
    }
}
