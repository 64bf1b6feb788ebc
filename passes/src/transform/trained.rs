//! The weights of an entry with their gradients, as the passes that make the step see them.

use crate::framework::target::TargetView;
use crate::transform::slots::SlotTypes;
use halite_ir::{Builder, DimName, FuncResult, GRAD_NORM, Layer, LocId, LocKind, ResultRole, Value, engine};
use halite_recipe::{Calls, Group, Optimizer, Precision, Recipe, Shard};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{DType, Packing};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The scope of what is computed for several vectors at once.
pub(crate) const VECTORS: &str = "vectors";

/// A weight and the gradient by it.
pub(crate) struct Trained {
    pub(crate) name: Name,
    /// Its place among all weights.
    pub(crate) order: usize,
    pub(crate) value: Value,
    /// By the sum over the batch.
    pub(crate) gradient: Value,
    /// The factor of the gradient, if `clip` has set one.
    pub(crate) scale: Option<Value>,
    pub(crate) decay: f64,
    /// The group of the optimizer that it is in.
    pub(crate) group: Option<Name>,
    /// The dimension that products with it keep, where its rule asks.
    pub(crate) output: usize,
    /// Element types of its state.
    pub(crate) types: SlotTypes,
    /// The tensors of the model that it stores, when these are several.
    pub(crate) packing: Option<Arc<Packing>>,
    /// The layer of the model that it is in.
    pub(crate) layer: Option<Layer>,
    /// The first part of a pipeline that reads it.
    part: Option<usize>,
    /// The names of its dimensions in the model.
    dims: Option<Arc<[DimName]>>,
}

/// The weights of an entry with these results, in the order of its parameters, without those that are frozen.
///
/// # Errors
/// When one has no gradient, or no decay; `pass` is who asks.
pub(crate) fn collect(
    pass: &str,
    b: &Builder<'_>,
    results: &[FuncResult],
    precision: &Precision,
) -> Result<Vec<Trained>> {
    let (gradients, scales) = (by_name(results, gradient_of), by_name(results, scale_of));
    let mut all = Vec::new();
    let weights = b.function().params.iter().filter_map(|param| Some((param, param.weight()?)));
    for (order, (param, info)) in weights.enumerate().filter(|(_, (_, info))| !info.frozen) {
        let unprepared =
            |what: &str, before: &str| unprepared(pass, &format!("weight `{}` {what}", param.name), before);
        let gradient = *gradients.get(&param.name).ok_or_else(|| unprepared("has no gradient", "auto-diff"))?;
        let decay = info.decay.ok_or_else(|| unprepared("has no decay", "bind-recipe"))?;
        all.push(Trained {
            name: param.name.clone(),
            order,
            value: param.value,
            gradient,
            scale: scales.get(&param.name).copied(),
            decay,
            group: info.group.clone(),
            output: info.output,
            types: SlotTypes::of(precision, param)?,
            packing: info.packing.clone(),
            layer: info.layer.clone(),
            part: info.part,
            dims: info.dims.clone(),
        });
    }
    Ok(all)
}

fn by_name(results: &[FuncResult], of: fn(&ResultRole) -> Option<&Name>) -> FxHashMap<Name, Value> {
    let named = |result: &FuncResult| Some((of(&result.role)?.clone(), result.value));
    results.iter().filter_map(named).collect()
}

fn gradient_of(role: &ResultRole) -> Option<&Name> {
    if let ResultRole::Gradient(of) = role { Some(of) } else { None }
}

fn scale_of(role: &ResultRole) -> Option<&Name> {
    if let ResultRole::Scale(of) = role { Some(of) } else { None }
}

/// The group of the recipe that a weight is in, if any.
///
/// # Errors
/// When the recipe has no such group; `pass` is who asks.
pub(crate) fn group_of<'r>(pass: &str, optimizer: &'r Optimizer, weight: &Trained) -> Result<Option<&'r Group>> {
    let Some(name) = &weight.group else { return Ok(None) };
    let unknown =
        || unprepared(pass, &format!("no group of the recipe is `{name}`, that of `{}`", weight.name), "bind-recipe");
    optimizer.group(name).map(Some).ok_or_else(unknown)
}

/// A complaint about a module that a pass has not seen yet.
pub(crate) fn unprepared(pass: &str, what: &str, before: &str) -> Diagnostic {
    Diagnostic::error(codes::PIPELINE, format!("`{pass}`: {what}")).help(format!("run `{before}` before `{pass}`"))
}

/// A complaint about a module that a pass has seen before.
pub(crate) fn made(pass: &str, what: &str) -> Diagnostic {
    let message = format!("`{pass}`: {what}");
    Diagnostic::error(codes::PIPELINE, message).help(format!("run `{pass}` once, and not on what it made"))
}

/// A complaint about a parameter that is named as something of the step's own is.
pub(crate) fn name_taken(name: &str) -> Diagnostic {
    let message = format!("the training step needs the name `{name}`, which a parameter has");
    let reserved = "`step`, `m.<weight>`, `v.<weight>` and the names of the metrics are the step's own";
    Diagnostic::error(codes::DUPLICATE, message).note(reserved).help("rename the parameter, or its scope")
}

/// Weights that are updated as one.
pub(crate) type Set = SmallVec<[Trained; 1]>;

/// The conditions for updating weights as one.
pub(crate) struct Joining<'a> {
    /// The type of update arithmetic.
    update: DType,
    /// Whether the work on a layer becomes a function.
    pub(crate) by_layer: bool,
    /// The dimensions that ranks share out, where a layout is compiled.
    shard: Option<&'a Shard>,
}

impl<'a> Joining<'a> {
    /// As a recipe has it.
    ///
    /// # Errors
    /// When its layout is of no ranks.
    pub(crate) fn of(recipe: &'a Recipe, target: TargetView<'_>) -> Result<Self> {
        let ranks = recipe.ranks(target.ranks.is_some())?.num_ranks();
        let shard = recipe.parallel.as_ref().map(|parallel| &parallel.shard).filter(|_| ranks > 1);
        Ok(Self { update: recipe.precision.update, by_layer: target.calls != Calls::Inline, shard })
    }

    /// Sets of weights that are updated as one: vectors that are updated alike (norm weights, biases) are put end to end, so that a few
    /// instructions do for all of them. In narrow arithmetic each is a set of its own: there the last operation on a weight is its
    /// write, which has a rounding of its own; and so is a weight that does not join. Where the work on a layer becomes a function,
    /// they are put together layer by layer, and where the model is cut into parts, part by part. A vector that ranks share out joins those of its size that are shared out as it is: beside
    /// others it would have to be gathered, or these be shared out too.
    pub(crate) fn sets(&self, b: &Builder<'_>, weights: Vec<Trained>, joins: impl Fn(&Trained) -> bool) -> Vec<Set> {
        let mut sets: Vec<Set> = Vec::with_capacity(weights.len());
        let mut found: FxHashMap<(Alike, Option<Layer>), usize> = FxHashMap::default();
        for weight in weights {
            let alike = self.alike(b, &weight).filter(|_| !self.update.is_narrow() && joins(&weight));
            let layer = weight.layer.clone().filter(|_| self.by_layer);
            let known = alike.map(|alike| *found.entry((alike, layer)).or_insert(sets.len()));
            match known.and_then(|at| sets.get_mut(at)) {
                Some(members) => members.push(weight),
                None => sets.push(smallvec![weight]),
            }
        }
        sets
    }

    /// None for what is not a vector of its own.
    fn alike(&self, b: &Builder<'_>, weight: &Trained) -> Option<Alike> {
        let joins = b.ty(weight.value).rank() == 1 && weight.packing.is_none();
        joins.then(|| Alike {
            group: weight.group.clone(),
            decay: weight.decay.to_bits(),
            scale: weight.scale,
            types: [b.dtype(weight.value), b.dtype(weight.gradient)],
            state: weight.types,
            part: weight.part,
            shared: self.shared(weight),
        })
    }

    /// The sizes of a vector that ranks share out, with their names.
    fn shared(&self, weight: &Trained) -> Option<DimName> {
        let [dim] = weight.dims.as_deref()? else { return None };
        dim.iter().any(|size| self.shard.is_some_and(|shard| shard.names(size.name.as_deref()))).then(|| dim.clone())
    }
}

/// The properties in which the vectors of a set agree.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    group: Option<Name>,
    decay: u64,
    scale: Option<Value>,
    /// Of the weight and its gradient.
    types: [DType; 2],
    state: SlotTypes,
    part: Option<usize>,
    shared: Option<DimName>,
}

/// Enters the scope of what is done for a set: that of its weight, or that of vectors, of the layer in which all are. The returned
/// location, given to [`Builder::set_loc`], leaves it.
pub(crate) fn enter(b: &mut Builder<'_>, set: &Set) -> LocId {
    let outer = b.loc();
    let layer = set.first().and_then(|first| first.layer.as_ref());
    let layer = layer.filter(|layer| set.iter().all(|weight| weight.layer.as_ref() == Some(layer)));
    if let Some(layer) = layer {
        b.enter(LocKind::Layer(layer.clone()));
    }
    match &set[..] {
        [only] => b.enter_scope(layer.and_then(|layer| layer.inside(&only.name)).unwrap_or(&only.name)),
        _ => b.enter_scope(VECTORS),
    };
    outer
}

/// The path of the scope that [`enter`] enters for a weight of this name, without what is around it.
pub(crate) fn path(layer: Option<&Layer>, name: &str) -> String {
    match layer {
        Some(layer) if layer.inside(name).is_none() => format!("{layer}.{name}"),
        _ => name.to_owned(),
    }
}

/// One value of each member, end to end; for a set of one, that value.
pub(crate) fn end_to_end(b: &mut Builder<'_>, set: &Set, of: impl Fn(&Trained) -> Value) -> Result<Value> {
    match &set[..] {
        [only] => Ok(of(only)),
        members => {
            let values: Vec<Value> = members.iter().map(of).collect();
            b.concatenate(&values, 0)
        }
    }
}

/// The objective and the number of elements it sums over, both scalars of floats.
pub(crate) struct Objective {
    pub(crate) sum: Value,
    pub(crate) count: Value,
    /// The divisor of sums: the count, or 1 for a batch without a single counted label, whose gradients stay zero.
    pub(crate) divisor: Value,
}

impl Objective {
    /// Of an entry with these results, in the type of scalar arithmetic, `f32` at least: counts and rates do not fit in less.
    ///
    /// # Errors
    /// When the entry has none.
    pub(crate) fn emit(b: &mut Builder<'_>, results: &[FuncResult]) -> Result<Self> {
        let [sum, count] = [find(b, results, ResultRole::Loss)?, find(b, results, ResultRole::Count)?];
        let float = engine(b.dtype(sum));
        let (sum, count) = (b.convert(sum, float)?, b.convert(count, float)?);
        let one = b.splat_like(count, 1.0)?;
        let divisor = b.maximum(count, one)?;
        Ok(Self { sum, count, divisor })
    }
}

/// The norm that `clip` left.
///
/// # Errors
/// When it did not; `pass` is who asks.
pub(crate) fn grad_norm(pass: &str, results: &[FuncResult]) -> Result<Value> {
    let is_norm = |result: &&FuncResult| result.role == ResultRole::Metric && *result.name == *GRAD_NORM;
    let result = results.iter().find(is_norm);
    Ok(result.ok_or_else(|| unprepared(pass, "there is no `grad_norm`", "clip"))?.value)
}

/// The objective or its count, by its role.
///
/// # Errors
/// When the entry has none.
pub(crate) fn find(b: &Builder<'_>, results: &[FuncResult], role: ResultRole) -> Result<Value> {
    let result = results.iter().find(|result| result.role == role);
    let missing = || {
        let word = if role == ResultRole::Loss { "loss" } else { "count" };
        Diagnostic::error(codes::PIPELINE, format!("`@{}` has no result with the role `{word}`", b.function().name))
            .help(format!("mark that result with `{{{word}}}`"))
    };
    Ok(result.ok_or_else(missing)?.value)
}
