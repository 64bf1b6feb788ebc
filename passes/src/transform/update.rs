//! `update`.

mod originals;
mod plan;
mod schedule;
mod sums;
mod write;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::scalar_state::scalar_state;
use crate::transform::slots::{EMA, MASTER};
use crate::transform::trained::{
    Joining, Objective, Set, Trained, collect, end_to_end, enter, grad_norm, name_taken, unprepared,
};
use halite_ir::{
    Builder, FuncResult, GRAD_NORM, LocKind, METRICS, Module, ParamRole, Phase, ResultRole, StepPart, Value, Values,
};
use halite_optim::{BoundRule, Kind, Terms, Time, Weight, average, scaled};
use halite_support::{Name, Result};
use halite_tensor::{ATTEMPTS, DType, Init, STEP, StateSpec};
use originals::step_each;
use plan::Plan;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use write::Replacements;

/// The name of the pass.
const PASS: &str = "update";

/// Turns gradients into a training step: `(batch, state) -> (state', metrics)`.
///
/// State is the weights, what their update rule keeps for each (`m.<weight>`, `v.<weight>`), wider copies of narrow weights
/// (`master.<weight>`), averages of them (`ema.<weight>`) and `step`, the number t of completed updates. A group may have a rule of its
/// own and scales the rate; a frozen weight has no state and replaces itself. A weight that stores several tensors is updated as one,
/// but a rule that looks at a tensor as a whole makes a step of each. Update t + 1 uses the learning rate and bias corrections of t +
/// 1, which the step computes itself: no input comes from the host but the batch. Where `finite` says whether the update is to be made,
/// state stays as it is otherwise, t included, and `attempts` counts both. Probes are dropped; results without a role, replacements of
/// other state and other metrics stay. The metrics are the mean loss, the gradient norm before clipping, the learning rate, the count,
/// and those of the model.
#[derive(Debug)]
pub(crate) struct Update;

impl Pass for Update {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "turn gradients into an update of the state", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .gives(Phase::Step)
            .example(golden!("update_sgd" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        update(module, cx)?;
        Ok(Changed::Yes)
    }
}

fn update(module: &mut Module, cx: &PassCx<'_>) -> Result<()> {
    let recipe = cx.recipe(PASS)?;
    let shape = cx.shapes.read(&recipe.schedule)?;
    let (mut b, results) = Builder::on_entry(module, cx.registry)?;
    let weights = collect(PASS, &b, &results, &recipe.precision)?;
    let plan = Plan::of(cx.rules, &recipe.optimizer, &weights)?;
    plan.check(&b, &weights)?;
    let states = States::declare(&mut b, &plan, &weights, recipe.precision.update)?;
    let step = counter(&mut b, STEP)?;
    let finite = results.iter().find(|result| result.role == ResultRole::Finite);
    let attempts = finite.map(|_| counter(&mut b, ATTEMPTS)).transpose()?;
    check_names(&b, &results)?;
    let outer = b.enter(LocKind::Part(StepPart::Update));
    let objective = Objective::emit(&mut b, &results)?;
    let sets = Joining::of(recipe, cx.target)?.sets(&b, weights, |weight| plan.is_elementwise(weight));
    let time = Time::emit(&mut b, step, objective.count)?;
    let rate = schedule::learning_rate(&mut b, time, recipe.optimizer.lr, recipe.schedule.warmup, &*shape)?;
    let updated = Sets { plan: &plan, states: &states, dtype: recipe.precision.update, time, rate };
    let mut replacements = updated.update(&mut b, &sets)?;
    keep_frozen(&b, &mut replacements);
    let loss = b.divide(objective.sum, objective.divisor)?;
    let of_model = sums::metrics(&mut b, &results)?;
    let mut replaced: Vec<(Name, Value)> = replacements.in_order().chain([(Name::from(STEP), time.next)]).collect();
    if let (Some(finite), Some(attempts)) = (finite, attempts) {
        skip_unless(finite.value, &mut b, &mut replaced)?;
        replaced.push((ATTEMPTS.into(), b.add_scalar(attempts, 1.0)?));
    }
    b.set_loc(outer);
    for (name, value) in replaced {
        b.named_result(value, name.clone(), ResultRole::State(name));
    }
    for (name, value) in METRICS.into_iter().zip([loss, grad_norm(PASS, &results)?, rate, objective.count]) {
        b.named_result(value, name, ResultRole::Metric);
    }
    for (name, value) in of_model {
        b.named_result(value, name, ResultRole::Metric);
    }
    b.results(results.into_iter().filter(stays).collect());
    b.finish();
    Ok(())
}

/// Whether the step returns this result of the entry.
fn stays(result: &FuncResult) -> bool {
    match result.role {
        ResultRole::Value | ResultRole::State(_) => true,
        _ => is_metric(result),
    }
}

/// Whether a result is a metric of a pass before, other than the norm that the step reports itself.
fn is_metric(result: &FuncResult) -> bool {
    result.role == ResultRole::Metric && *result.name != *GRAD_NORM
}

/// Whether the step reports a result, made by the model or by a pass before.
fn is_reported(result: &FuncResult) -> bool {
    result.role == ResultRole::Sum || is_metric(result)
}

/// The parameter that counts, which is there already where something before reads it.
fn counter(b: &mut Builder<'_>, kind: Kind) -> Result<Value> {
    scalar_state(b, DType::S32, StateSpec::new(kind))
}

/// Has every replacement be what it replaces, unless the update is to be made.
fn skip_unless(finite: Value, b: &mut Builder<'_>, replaced: &mut [(Name, Value)]) -> Result<()> {
    let old: FxHashMap<Name, Value> =
        b.function().params.iter().map(|param| (param.name.clone(), param.value)).collect();
    for (name, value) in replaced.iter_mut().filter(|(name, value)| old[name] != *value) {
        *value = b.select(finite, *value, old[name])?;
    }
    Ok(())
}

/// Has frozen weights replace themselves.
fn keep_frozen(b: &Builder<'_>, all: &mut Replacements) {
    let weights = b.function().params.iter().filter_map(|param| Some((param, param.weight()?)));
    for (order, (param, _)) in weights.enumerate().filter(|(_, (_, info))| info.frozen) {
        all.keep(order, param.name.clone(), param.value);
    }
}

/// Checks that the step's own state and metrics do not have the name of a parameter, nor of a metric that it reports.
fn check_names(b: &Builder<'_>, results: &[FuncResult]) -> Result<()> {
    let mut seen = FxHashSet::default();
    let params = b.function().params.iter().map(|param| &*param.name);
    let metrics = results.iter().filter(|result| is_reported(result)).map(|result| &*result.name);
    let Some(taken) = params.chain(METRICS).chain(metrics).find(|&name| !seen.insert(name)) else { return Ok(()) };
    Err(name_taken(taken))
}

/// The state beside the weights, for each by its place and kind.
struct States {
    values: FxHashMap<(usize, Kind), Value>,
}

impl States {
    /// Adds the parameters, kind by kind: what rules keep, masters, averages.
    fn declare(b: &mut Builder<'_>, plan: &Plan<'_>, weights: &[Trained], update: DType) -> Result<Self> {
        let mut values = FxHashMap::default();
        for &kind in &plan.kinds {
            for weight in weights {
                let kept = plan.group(weight)?.rule.kinds().contains(&kind);
                let (dtype, init) = match kind {
                    MASTER => (weight.types.master.dtype(), Init::Weight),
                    EMA => (Some(weight.types.ema(update)), Init::Weight),
                    _ => (kept.then_some(weight.types.moments), Init::Zeros),
                };
                let Some(dtype) = dtype else { continue };
                let ty = b.ty(weight.value).with_dtype(dtype);
                let spec = StateSpec::new(kind).of(weight.name.clone()).init(init);
                let value = b.param(spec.param_name(), ty, ParamRole::State(spec));
                values.insert((weight.order, kind), value);
            }
        }
        Ok(Self { values })
    }

    /// The state of a kind of a weight.
    fn get(&self, weight: &Trained, kind: Kind) -> Option<Value> {
        self.values.get(&(weight.order, kind)).copied()
    }

    /// The state of a kind of a set, end to end.
    fn of_set(&self, b: &mut Builder<'_>, set: &Set, kind: Kind) -> Result<Option<Value>> {
        if set.iter().any(|weight| self.get(weight, kind).is_none()) {
            return Ok(None);
        }
        end_to_end(b, set, |weight| self.values[&(weight.order, kind)]).map(Some)
    }
}

/// Updates sets of weights.
struct Sets<'a> {
    plan: &'a Plan<'a>,
    states: &'a States,
    /// The type of arithmetic on tensors.
    dtype: DType,
    time: Time,
    rate: Value,
}

/// The update of the weights of a group: its rule, the inputs of the rule, and the values that it computes once for all of them.
#[derive(Clone, Copy)]
struct Arithmetic<'a> {
    rule: &'a dyn BoundRule,
    terms: &'a Terms,
    shared: &'a Values,
}

impl Sets<'_> {
    fn update(&self, b: &mut Builder<'_>, sets: &[Set]) -> Result<Replacements> {
        let mut shared: FxHashMap<(&Option<Name>, Value), (Terms, Values)> = FxHashMap::default();
        let mut all = Replacements::new(&self.plan.kinds);
        let joined = sets.iter().map(|set| self.join(b, set)).collect::<Result<Vec<_>>>()?;
        for (set, joined) in sets.iter().zip(joined) {
            let factor = set[0].scale.ok_or_else(|| unprepared(PASS, "no gradient has a scale", "clip"))?;
            let group = self.plan.group(&set[0])?;
            let (terms, values) = match shared.entry((&set[0].group, factor)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let rate = group.rate(b, self.rate)?;
                    let terms = Terms { dtype: self.dtype, rate, factor, time: self.time };
                    new.insert((terms, group.rule.shared(b, &terms)?))
                }
            };
            let outer = enter(b, set);
            let arithmetic = Arithmetic { rule: &*group.rule, terms, shared: values };
            self.update_set(b, arithmetic, set, joined, &mut all)?;
            b.set_loc(outer);
        }
        Ok(all)
    }

    /// The values of a set, end to end.
    fn join(&self, b: &mut Builder<'_>, set: &Set) -> Result<Joined> {
        let outer = enter(b, set);
        let value = end_to_end(b, set, |weight| weight.value)?;
        let gradient = end_to_end(b, set, |weight| weight.gradient)?;
        let kept = self.plan.group(&set[0])?.rule.kinds().iter().map(|&kind| self.states.of_set(b, set, kind));
        let kept = kept.collect::<Result<Option<Values>>>()?.unwrap_or_default();
        let master = self.states.of_set(b, set, MASTER)?;
        let ema = self.states.of_set(b, set, EMA)?;
        b.set_loc(outer);
        Ok(Joined { value, gradient, kept, master, ema })
    }

    /// `w' = w - (minus + rate * decay * w)`: where there is a wider copy it is the one that is updated, and the weight is that
    /// rounded.
    ///
    /// The decay is added to what is subtracted before that happens: `w * (1 - rate * decay)` would round to `w` at warm-up rates.
    fn update_set(
        &self,
        b: &mut Builder<'_>,
        Arithmetic { rule, terms, shared }: Arithmetic<'_>,
        set: &Set,
        joined: Joined,
        all: &mut Replacements,
    ) -> Result<()> {
        let gradient = b.convert(joined.gradient, self.dtype)?;
        let value = joined.master.unwrap_or(joined.value);
        let weight = Weight { value, gradient, decay: set[0].decay, output: set[0].output, state: joined.kept };
        let step = match set[0].packing.as_deref().filter(|_| !self.plan.is_elementwise(&set[0])) {
            None => rule.step(b, terms, shared, &weight)?,
            Some(packing) => step_each(b, packing, &weight, |b, own| rule.step(b, terms, shared, own))?,
        };
        for ((&kind, &old), new) in rule.kinds().iter().zip(&weight.state).zip(step.state) {
            all.put(b, Some(kind), set, b.dtype(old), new)?;
        }
        let old = b.convert(value, self.dtype)?;
        let mut minus = step.minus;
        if rule.decouples_decay() && set[0].decay != 0.0 {
            let rate = b.multiply_scalar(terms.rate, set[0].decay)?;
            let decay = scaled(b, old, rate)?;
            minus = b.add(minus, decay)?;
        }
        let new = b.subtract(old, minus)?;
        if let Some(master) = joined.master {
            all.put(b, Some(MASTER), set, b.dtype(master), new)?;
        }
        if let (Some(ema), Some(decay)) = (joined.ema, self.plan.ema) {
            let new = b.convert(new, b.dtype(ema))?;
            let average = average(b, ema, new, decay)?;
            all.put(b, Some(EMA), set, b.dtype(ema), average)?;
        }
        all.put(b, None, set, b.dtype(joined.value), new)
    }
}

/// The values of a set, end to end.
struct Joined {
    value: Value,
    gradient: Value,
    /// The state of the rule, kind by kind.
    kept: Values,
    master: Option<Value>,
    /// The average of the weight.
    ema: Option<Value>,
}
