//! `append-optimizer`.

mod adamw;
mod clip;
mod join;
mod schedule;
mod sgd;
mod write;

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::slots::SlotTypes;
use halite_ir::{
    FuncResult, Function, METRICS, Module, ParamRole, Phase, Registry, ResultRole, Rewriter, StateInfo, TensorType,
    Value, engine,
};
use halite_recipe::builtin_rules::{AdamW, Sgd};
use halite_recipe::{Clip, Precision, Recipe, Rule};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{DType, Packing, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use write::updates;

/// Turns gradients into a training step: `(batch, state) -> (state', metrics)`.
///
/// State is the weights, the optimizer's slots for each weight (`m.<weight>`, `v.<weight>`) and `step`, the number t of
/// completed updates. Update t + 1 uses the learning rate and bias corrections of t + 1, which the step computes itself:
/// no input comes from the host but the batch. The objective is a sum; gradients are divided by the count here, once,
/// together with clipping by global norm, `min(1, c / (norm + 1e-6))`; a count of 0 divides as 1. The norm counts each
/// element of the model once, however often it is stored. Probes are dropped, results without a role stay. The metrics are the mean
/// loss, the gradient norm before clipping, the learning rate and the count.
#[derive(Debug)]
pub(crate) struct AppendOptimizer;

impl Pass for AppendOptimizer {
    fn info(&self) -> PassInfo {
        PassInfo::new("append-optimizer", "turn gradients into an update of the state", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .gives(Phase::Step)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe("append-optimizer")?;
        let entry = module.functions.pop().ok_or_else(|| Diagnostic::bug("a module without functions"))?;
        append(module, cx.registry, recipe, &entry)?;
        Ok(Changed::Yes)
    }
}

fn append(module: &mut Module, registry: &Registry, recipe: &Recipe, entry: &Function) -> Result<()> {
    let mut b = Rewriter::new(module, registry, entry);
    let mut weights = collect_weights(&b, entry, &recipe.precision)?;
    let settings = Settings::of(&recipe.optimizer.rule)?;
    add_slots(&mut b, &settings, &mut weights);
    let step = b.param("step", TensorType::scalar(DType::S32), state(Slot::Step, None));
    check_names(&b)?;
    for inst in &entry.insts {
        b.copy(entry, inst)?;
    }
    for weight in &mut weights {
        weight.gradient = b.value(weight.gradient)?;
    }
    let objective = Objective::find(&b, entry)?;
    let outer = b.enter_scope("optimizer");
    let objective = objective.wide(&mut b)?;
    let (float, update) = (b.dtype(objective.sum), recipe.precision.update);
    // In narrow arithmetic the last operation on a weight is its write, which has a rounding of its own.
    let weights = if update.is_narrow() { weights } else { join::join_vectors(&mut b, weights)? };
    let time = Time::new(&mut b, step, float)?;
    let rate = schedule::learning_rate(&mut b, time, recipe.optimizer.lr, &recipe.schedule)?;
    // A batch without a single counted label leaves the gradients at zero instead of dividing by it.
    let one = b.splat_like(objective.count, 1.0)?;
    let divisor = b.maximum(objective.count, one)?;
    let max_norm = recipe.optimizer.clip.and_then(|clip| if let Clip::Norm(norm) = clip { Some(norm) } else { None });
    let clipped = clip::scale(&mut b, &weights, divisor, max_norm)?;
    let terms = Terms { dtype: update, rate, factor: clipped.factor };
    let updated = match &settings {
        Settings::AdamW(settings) => {
            let shared = adamw::shared(&mut b, settings, time, &terms)?;
            updates(&mut b, &terms, &weights, |b, weight, gradient, all| {
                adamw::step(b, settings, &shared, weight, gradient, all)
            })?
        }
        Settings::Sgd(settings) => updates(&mut b, &terms, &weights, |b, weight, gradient, all| {
            sgd::step(b, settings, &terms, weight, gradient, all)
        })?,
    };
    let loss = b.divide(objective.sum, divisor)?;
    b.set_loc(outer);
    for (name, value) in updated.into_iter().chain([(Name::from("step"), time.next)]) {
        b.named_result(value, name.clone(), ResultRole::State(name));
    }
    for (name, value) in METRICS.into_iter().zip([loss, clipped.norm, rate, objective.count]) {
        b.named_result(value, name, ResultRole::Metric);
    }
    for result in entry.results.iter().filter(|result| result.role == ResultRole::Value) {
        let value = b.value(result.value)?;
        b.named_result(value, result.name.clone(), ResultRole::Value);
    }
    b.into_builder().finish();
    Ok(())
}

/// A weight with what its update needs, or several end to end that are updated as one.
struct Weight {
    /// What its instructions are named after.
    scope: Name,
    parts: SmallVec<[Part; 1]>,
    value: Value,
    /// By the sum over the batch; a value of the old function until its instructions are copied.
    gradient: Value,
    decay: f64,
    /// Element types of its slots.
    types: SlotTypes,
    /// The tensors of the model that it stores, when these are several.
    packing: Option<Arc<Packing>>,
    /// First moment or momentum.
    m: Option<Value>,
    /// Second moment.
    v: Option<Value>,
    /// Wider copy.
    master: Option<Value>,
}

/// A parameter that is updated as a part of a [`Weight`].
struct Part {
    name: Name,
    /// Its place among all weights.
    order: usize,
    /// How many of the elements are its own.
    size: usize,
}

fn collect_weights(b: &Rewriter<'_>, entry: &Function, precision: &Precision) -> Result<Vec<Weight>> {
    let gradient = |result: &FuncResult| match &result.role {
        ResultRole::Gradient(name) => Some((name.clone(), result.value)),
        _ => None,
    };
    let gradients: FxHashMap<Name, Value> = entry.results.iter().filter_map(gradient).collect();
    let mut weights = Vec::new();
    for param in &entry.params {
        let ParamRole::Weight(info) = &param.role else { continue };
        let gradient = gradients.get(&param.name).copied();
        let gradient =
            gradient.ok_or_else(|| unprepared(&format!("weight `{}` has no gradient", param.name), "auto-diff"))?;
        let decay =
            info.decay.ok_or_else(|| unprepared(&format!("weight `{}` has no decay", param.name), "bind-recipe"))?;
        let value = b.value(param.value)?;
        let (scope, types, packing) = (param.name.clone(), SlotTypes::of(precision, param)?, info.packing.clone());
        let size = b.shape(value).num_elements();
        let parts = smallvec![Part { name: scope.clone(), order: weights.len(), size }];
        weights.push(Weight { scope, parts, value, gradient, decay, types, packing, m: None, v: None, master: None });
    }
    Ok(weights)
}

/// A complaint about a module that a pass has not seen yet.
fn unprepared(what: &str, pass: &str) -> Diagnostic {
    Diagnostic::error(codes::PIPELINE, format!("`append-optimizer`: {what}"))
        .help(format!("run `{pass}` before `append-optimizer`"))
}

/// What the step calls its own state and metrics must not be the name of a parameter.
fn check_names(b: &Rewriter<'_>) -> Result<()> {
    let mut seen = FxHashSet::default();
    let params = b.function().params.iter().map(|param| &*param.name);
    let Some(taken) = params.chain(METRICS).find(|&name| !seen.insert(name)) else { return Ok(()) };
    let message = format!("the training step needs the name `{taken}`, which a parameter has");
    let reserved = "`step`, `m.<weight>`, `v.<weight>` and the names of the metrics are the step's own";
    Err(Diagnostic::error(codes::DUPLICATE, message).note(reserved).help("rename the parameter, or its scope"))
}

fn state(slot: Slot, of: Option<&Name>) -> ParamRole {
    ParamRole::State(StateInfo { slot, of: of.cloned() })
}

/// Adds the optimizer's parameters, slot by slot.
fn add_slots(b: &mut Rewriter<'_>, settings: &Settings, weights: &mut [Weight]) {
    let slots: &[Slot] = match settings {
        Settings::AdamW(_) => &[Slot::M, Slot::V, Slot::Master],
        Settings::Sgd(sgd) if sgd.momentum != 0.0 => &[Slot::M, Slot::Master],
        Settings::Sgd(_) => &[Slot::Master],
    };
    for &slot in slots {
        for weight in weights.iter_mut() {
            let SlotTypes { master, moments, .. } = weight.types;
            let dtype = if slot == Slot::Master { master.dtype() } else { Some(moments) };
            let Some(dtype) = dtype else { continue };
            let ty = b.ty(weight.value).with_dtype(dtype);
            let value = b.param(slot_name(slot, &weight.scope), ty, state(slot, Some(&weight.scope)));
            match slot {
                Slot::M => weight.m = Some(value),
                Slot::V => weight.v = Some(value),
                Slot::Master => weight.master = Some(value),
                Slot::Step => {}
            }
        }
    }
}

fn slot_name(slot: Slot, weight: &Name) -> Name {
    format!("{}.{weight}", slot.name()).into()
}

/// The update rules that are compiled, with their settings.
enum Settings {
    AdamW(AdamW),
    Sgd(Sgd),
}

impl Settings {
    fn of(rule: &Rule) -> Result<Self> {
        match &*rule.name {
            "adamw" => rule.settings().map(Self::AdamW),
            "sgd" => rule.settings().map(Self::Sgd),
            name => {
                let error =
                    Diagnostic::error(codes::NOT_SUPPORTED, format!("the update rule `{name}` is not compiled"));
                Err(error.key(format!("optimizer.{name}")).help("choose `adamw` or `sgd`"))
            }
        }
    }
}

/// The objective and the number of elements it sums over, both float scalars.
struct Objective {
    sum: Value,
    count: Value,
}

impl Objective {
    fn find(b: &Rewriter<'_>, entry: &Function) -> Result<Self> {
        let find = |role: ResultRole| {
            let result = entry.results.iter().find(|result| result.role == role);
            let missing = || {
                let word = if role == ResultRole::Loss { "loss" } else { "count" };
                Diagnostic::error(codes::PIPELINE, format!("`@{}` has no result with the role `{word}`", entry.name))
                    .help(format!("mark that result with `{{{word}}}`"))
            };
            b.value(result.ok_or_else(missing)?.value)
        };
        Ok(Self { sum: find(ResultRole::Loss)?, count: find(ResultRole::Count)? })
    }

    /// In the type of scalar arithmetic, `f32` at least: counts and rates do not fit in less.
    fn wide(&self, b: &mut Rewriter<'_>) -> Result<Self> {
        let float = engine(b.dtype(self.sum));
        Ok(Self { sum: b.convert(self.sum, float)?, count: b.convert(self.count, float)? })
    }
}

/// What every update rule is given besides its settings.
struct Terms {
    /// The type of arithmetic on tensors.
    dtype: DType,
    /// The learning rate.
    rate: Value,
    /// Multiplies gradients: mean and clipping.
    factor: Value,
}

/// The number of the update being made.
#[derive(Clone, Copy)]
struct Time {
    /// `t + 1`, `s32[]`.
    next: Value,
    /// The same as a float.
    real: Value,
}

impl Time {
    fn new(b: &mut Rewriter<'_>, step: Value, float: DType) -> Result<Self> {
        let next = b.add_scalar(step, 1.0)?;
        Ok(Self { next, real: b.convert(next, float)? })
    }
}
