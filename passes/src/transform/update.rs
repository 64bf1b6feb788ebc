//! `update`.

pub(crate) mod rule;
pub(crate) mod rules;
mod schedule;
pub(crate) mod shape;
pub(crate) mod shapes;
mod write;

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::slots::MASTER;
use crate::transform::trained::{Objective, SCOPE, Set, Trained, collect, end_to_end, resolve, sets, unprepared};
use halite_ir::{
    Builder, Function, GRAD_NORM, METRICS, Module, ParamRole, Phase, ResultRole, Rewriter, TensorType, Value, Values,
};
use halite_recipe::Rule;
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{DType, Init, STEP, StateSpec};
use rule::{BoundRule, Kind, Time, UpdateRule, Weight};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::collections::hash_map::Entry;
use write::Replacements;

/// The name of the pass.
const PASS: &str = "update";

/// Turns gradients into a training step: `(batch, state) -> (state', metrics)`.
///
/// State is the weights, what the update rule keeps for each (`m.<weight>`, `v.<weight>`), wider copies of narrow weights
/// (`master.<weight>`) and `step`, the number t of completed updates. Update t + 1 uses the learning rate and bias corrections of
/// t + 1, which the step computes itself: no input comes from the host but the batch. Probes are dropped, results without a role
/// stay. The metrics are the mean loss, the gradient norm before clipping, the learning rate and the count.
#[derive(Debug)]
pub(crate) struct Update;

impl Pass for Update {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "turn gradients into an update of the state", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .gives(Phase::Step)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let entry = module.functions.pop().ok_or_else(|| Diagnostic::bug("a module without functions"))?;
        update(module, cx, &entry)?;
        Ok(Changed::Yes)
    }
}

fn update(module: &mut Module, cx: &PassCx<'_>, entry: &Function) -> Result<()> {
    let recipe = cx.recipe(PASS)?;
    let kind = cx.rules.get(&recipe.optimizer.rule)?;
    let rule = kind.read(&recipe.optimizer.rule)?;
    let shape = cx.shapes.read(&recipe.schedule)?;
    let mut b = Rewriter::new(module, cx.registry, entry);
    let mut weights = collect(PASS, &b, entry, &recipe.precision)?;
    check_fits(&b, kind, &recipe.optimizer.rule, &weights)?;
    let states = States::declare(&mut b, &*rule, &weights);
    let step = b.param(STEP, TensorType::scalar(DType::S32), ParamRole::State(StateSpec::new(STEP)));
    check_names(&b)?;
    for inst in &entry.insts {
        b.copy(entry, inst)?;
    }
    resolve(&b, &mut weights)?;
    let outer = b.enter_scope(SCOPE);
    let objective = Objective::emit(&mut b, entry)?;
    let sets = if kind.is_elementwise() { sets(&b, weights, recipe.precision.update) } else { apart(weights) };
    let time = Time::emit(&mut b, step, objective.count)?;
    let rate = schedule::learning_rate(&mut b, time, recipe.optimizer.lr, recipe.schedule.warmup, &*shape)?;
    let replacements =
        Sets { rule: &*rule, states: &states, dtype: recipe.precision.update, time, rate }.update(&mut b, &sets)?;
    let loss = b.divide(objective.sum, objective.divisor)?;
    b.set_loc(outer);
    for (name, value) in replacements.in_order().chain([(Name::from(STEP), time.next)]) {
        b.named_result(value, name.clone(), ResultRole::State(name));
    }
    for (name, value) in METRICS.into_iter().zip([loss, grad_norm(&b, entry)?, rate, objective.count]) {
        b.named_result(value, name, ResultRole::Metric);
    }
    for result in entry.results.iter().filter(|result| result.role == ResultRole::Value) {
        let value = b.value(result.value)?;
        b.named_result(value, result.name.clone(), ResultRole::Value);
    }
    b.into_builder().finish();
    Ok(())
}

/// What a rule does not update must not be given to it.
fn check_fits(b: &Rewriter<'_>, kind: &dyn UpdateRule, rule: &Rule, weights: &[Trained]) -> Result<()> {
    for weight in weights {
        if weight.packing.is_some() && !kind.is_elementwise() {
            let message =
                format!("`{}` stores several weights, and `{}` looks at each as a whole", weight.name, rule.name);
            let help = "run `coalesce-layers` with the recipe, which keeps them apart";
            return Err(Diagnostic::error(codes::PIPELINE, message).help(help));
        }
        if let Err(why) = kind.fits(b.shape(weight.value)) {
            let message = format!("`{}` does not update the weight `{}`: {why}", rule.name, weight.name);
            let error = Diagnostic::error(codes::NOT_SUPPORTED, message).key("optimizer");
            return Err(error.help("put it in a group with another rule"));
        }
    }
    Ok(())
}

/// Each weight as a set of its own.
fn apart(weights: Vec<Trained>) -> Vec<Set> {
    weights.into_iter().map(|weight| smallvec![weight]).collect()
}

/// The norm that `clip` left.
fn grad_norm(b: &Rewriter<'_>, entry: &Function) -> Result<Value> {
    let is_norm = |result: &&halite_ir::FuncResult| result.role == ResultRole::Metric && *result.name == *GRAD_NORM;
    let result = entry.results.iter().find(is_norm);
    b.value(result.ok_or_else(|| unprepared(PASS, "there is no `grad_norm`", "clip"))?.value)
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

/// The state beside the weights: kind by kind, and for each weight by its place.
struct States {
    kinds: Vec<Kind>,
    values: FxHashMap<(usize, Kind), Value>,
}

impl States {
    /// Adds the parameters, kind by kind: what the rule keeps, then masters.
    fn declare(b: &mut Rewriter<'_>, rule: &dyn BoundRule, weights: &[Trained]) -> Self {
        let kinds: Vec<Kind> = rule.kinds().iter().copied().chain([MASTER]).collect();
        let mut values = FxHashMap::default();
        for &kind in &kinds {
            for weight in weights {
                let (dtype, init) = match kind {
                    MASTER => (weight.types.master.dtype(), Init::Weight),
                    _ => (Some(weight.types.moments), Init::Zeros),
                };
                let Some(dtype) = dtype else { continue };
                let ty = b.ty(weight.value).with_dtype(dtype);
                let spec = StateSpec::new(kind).of(weight.name.clone()).init(init);
                let value = b.param(spec.param_name(), ty, ParamRole::State(spec));
                values.insert((weight.order, kind), value);
            }
        }
        Self { kinds, values }
    }

    /// What a weight has of a kind.
    fn get(&self, weight: &Trained, kind: Kind) -> Option<Value> {
        self.values.get(&(weight.order, kind)).copied()
    }

    /// What a set has of a kind, end to end.
    fn of_set(&self, b: &mut Builder<'_>, set: &Set, kind: Kind) -> Result<Option<Value>> {
        if set.iter().any(|weight| self.get(weight, kind).is_none()) {
            return Ok(None);
        }
        end_to_end(b, set, |weight| self.values[&(weight.order, kind)]).map(Some)
    }
}

/// How sets of weights are updated.
struct Sets<'a> {
    rule: &'a dyn BoundRule,
    states: &'a States,
    /// The type of arithmetic on tensors.
    dtype: DType,
    time: Time,
    rate: Value,
}

impl Sets<'_> {
    fn update(&self, b: &mut Builder<'_>, sets: &[Set]) -> Result<Replacements> {
        let mut shared: FxHashMap<Value, (rule::Terms, Values)> = FxHashMap::default();
        let mut all = Replacements::new(&self.states.kinds);
        let joined = sets.iter().map(|set| self.join(b, set)).collect::<Result<Vec<_>>>()?;
        for (set, joined) in sets.iter().zip(joined) {
            let factor = set[0].scale.ok_or_else(|| unprepared(PASS, "no gradient has a scale", "clip"))?;
            let (terms, values) = match shared.entry(factor) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let terms = rule::Terms { dtype: self.dtype, rate: self.rate, factor, time: self.time };
                    new.insert((terms, self.rule.shared(b, &terms)?))
                }
            };
            let scope = if set.len() == 1 { set[0].name.clone() } else { crate::transform::trained::VECTORS.into() };
            let outer = b.enter_scope(scope);
            self.update_set(b, (terms, values), set, joined, &mut all)?;
            b.set_loc(outer);
        }
        Ok(all)
    }

    /// The values of a set, end to end.
    fn join(&self, b: &mut Builder<'_>, set: &Set) -> Result<Joined> {
        let value = end_to_end(b, set, |weight| weight.value)?;
        let gradient = end_to_end(b, set, |weight| weight.gradient)?;
        let kept = self.rule.kinds().iter().map(|&kind| self.states.of_set(b, set, kind));
        let kept = kept.collect::<Result<Option<Values>>>()?.unwrap_or_default();
        let master = self.states.of_set(b, set, MASTER)?;
        Ok(Joined { value, gradient, kept, master })
    }

    /// `w' = w - (minus + rate * decay * w)`: where there is a wider copy it is the one that is updated, and the weight is that
    /// rounded.
    ///
    /// The decay is added to what is subtracted before that happens: `w * (1 - rate * decay)` would round to `w` at warm-up rates.
    fn update_set(
        &self,
        b: &mut Builder<'_>,
        (terms, shared): (&rule::Terms, &Values),
        set: &Set,
        joined: Joined,
        all: &mut Replacements,
    ) -> Result<()> {
        let gradient = b.convert(joined.gradient, self.dtype)?;
        let value = joined.master.unwrap_or(joined.value);
        let weight = Weight { value, gradient, decay: set[0].decay, state: joined.kept };
        let step = self.rule.step(b, terms, shared, &weight)?;
        for ((&kind, &old), new) in self.rule.kinds().iter().zip(&weight.state).zip(step.state) {
            all.put(b, Some(kind), set, b.dtype(old), new)?;
        }
        let old = b.convert(value, self.dtype)?;
        let mut minus = step.minus;
        if self.rule.decouples_decay() && set[0].decay != 0.0 {
            let rate = b.multiply_scalar(terms.rate, set[0].decay)?;
            let decay = rule::scaled(b, old, rate)?;
            minus = b.add(minus, decay)?;
        }
        let new = b.subtract(old, minus)?;
        if let Some(master) = joined.master {
            all.put(b, Some(MASTER), set, b.dtype(master), new)?;
        }
        all.put(b, None, set, b.dtype(joined.value), new)
    }
}

/// A set as the rule sees it.
struct Joined {
    value: Value,
    gradient: Value,
    /// What the rule keeps, kind by kind.
    kept: Values,
    master: Option<Value>,
}
