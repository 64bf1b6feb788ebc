//! An independent model of what `clip` and `update` define, in plain `f64` arithmetic.

use halite::Session;
use halite_ir::{FuncResult, Function, Interpreter, Module, NamedParams, Param, ParamRole, ResultRole};
use halite_optim::RefWeight;
use halite_passes::matches_pattern;
use halite_recipe::{Clip, Group, Recipe};
use halite_tensor::{DType, HostTensor, Packing, Part};
use halite_test_kit::{InputKind, Tolerance, agree, seeded_inputs};
use std::collections::{BTreeMap, BTreeSet};

/// The tolerance of an update against the model, norm-wise, in units of roundoff of its element type.
const ULPS: f64 = 16.0;

/// Completed updates for which the step is tried: the first update, one in the middle, one past the schedule.
const STEPS: [i128; 3] = [0, 7, 1000];

/// One trained weight with its state and its gradient.
#[derive(Clone, Debug)]
struct Weight<'r> {
    /// As wide as it is kept, with its gradient and what its rule keeps.
    weight: RefWeight,
    /// The places of the tensors that it stores, if its rule looks at each as a whole.
    lies: Option<Lies>,
    /// Of the gradient of the mean, each element of the model once.
    squares: f64,
    /// The factor of the gradient.
    factor: f64,
    ema: Vec<f64>,
    decay: f64,
    group: Option<&'r Group>,
}

/// Checks that the entry of `after` scales gradients, or updates the state, as the recipe says, given the gradients, and scales of
/// them, that the entry of `before` computes.
///
/// # Errors
/// Naming the step and the result that differs.
pub(crate) fn check_update(before: &Module, after: &Module, recipe: &Recipe, session: &Session) -> Result<(), String> {
    let registry = &session.registry;
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    let may_skip = old.results.iter().any(|result| result.role == ResultRole::Finite);
    for (step, overflows) in STEPS.into_iter().flat_map(|step| [(step, false), (step, true)]) {
        let mut inputs = seeded_inputs(new, InputKind::Plain, 11);
        prepare(new, &mut inputs, step)?;
        if overflows && !(may_skip && overflow(old, &mut inputs)) {
            continue;
        }
        let gradients = Interpreter::of(before, registry)
            .run(old, inputs[..old.params.len()].to_vec())
            .map_err(|error| error.to_string())?;
        let results = Interpreter::of(after, registry).run(new, inputs.clone()).map_err(|error| error.to_string())?;
        let at = |name: &str, error: String| format!("update {}: `{name}`: {error}", step + 1);
        if overflows {
            check_skipped((old, new), &inputs, &results).map_err(|(name, error)| at(&name, error))?;
            continue;
        }
        let expected = model(session, recipe, old, &gradients, new, &inputs, step as f64 + 1.0)?;
        for (result, found) in new.results.iter().zip(results) {
            let wanted = expected.get(&key(result)).ok_or_else(|| format!("nothing defines `{}`", result.name))?;
            let wanted = HostTensor::from_f64s(found.dtype(), found.shape().clone(), wanted.iter().copied());
            agree(&[found], &[wanted], Tolerance::Ulps(ULPS)).map_err(|error| at(&result.name, error))?;
        }
    }
    Ok(())
}

/// Makes the gradients infinite, by the first batch input of floats, if there is one.
fn overflow(entry: &Function, inputs: &mut [HostTensor]) -> bool {
    let is_read = |param: &Param| param.role == ParamRole::Batch && entry.ty(param.value).dtype().is_float();
    let Some(at) = entry.params.iter().position(is_read) else { return false };
    let (dtype, shape) = (inputs[at].dtype(), inputs[at].shape().clone());
    inputs[at] = HostTensor::from_f64s(dtype, shape, vec![f64::INFINITY; inputs[at].len()]);
    true
}

/// Checks that a step that skipped its update left all state as it was, but what passes before replace, and counted the attempt.
fn check_skipped(
    (before, entry): (&Function, &Function),
    inputs: &[HostTensor],
    results: &[HostTensor],
) -> Result<(), (String, String)> {
    for (result, found) in entry.results.iter().zip(results) {
        let ResultRole::State(name) = &result.role else { continue };
        if before.results.iter().any(|old| old.role == result.role) {
            continue;
        }
        let old = entry.params.iter().position(|param| param.name == *name).map(|at| &inputs[at]);
        let kept = match (&**name, old) {
            ("attempts", Some(old)) => found.ints()[0] == old.ints()[0] + 1,
            (_, Some(old)) => found.bytes() == old.bytes(),
            (_, None) => false,
        };
        if !kept {
            return Err((name.to_string(), format!("is {found:?} after an update that was skipped, {old:?} before")));
        }
    }
    Ok(())
}

/// Sets the counter, makes second moments positive, and copies of one tensor equal.
fn prepare(entry: &Function, inputs: &mut [HostTensor], step: i128) -> Result<(), String> {
    let named = NamedParams::of(entry);
    for (param, input) in entry.params.iter().zip(inputs) {
        if let Some(packing) = named.packing(param) {
            let (lies, values) = (Lies::of(packing)?, input.f64s());
            *input = HostTensor::from_f64s(input.dtype(), input.shape().clone(), lies.packed(&lies.in_model(&values)));
        }
        let ParamRole::State(spec) = &param.role else { continue };
        let (dtype, shape) = (input.dtype(), input.shape().clone());
        *input = match &*spec.kind {
            "step" => HostTensor::from_ints(dtype, shape, [step]),
            "v" => HostTensor::from_f64s(dtype, shape, input.f64s().into_iter().map(f64::abs)),
            _ => continue,
        };
    }
    Ok(())
}

/// The key of a result: its name, or its role where that says more.
fn key(result: &FuncResult) -> String {
    match &result.role {
        ResultRole::Gradient(of) => format!("gradient of {of}"),
        ResultRole::Loss | ResultRole::Count => format!("sum of {}", result.name),
        _ => result.name.to_string(),
    }
}

/// Every result that `clip` or `update` defines, by its key.
fn model(
    session: &Session,
    recipe: &Recipe,
    old: &Function,
    results: &[HostTensor],
    new: &Function,
    inputs: &[HostTensor],
    time: f64,
) -> Result<BTreeMap<String, Vec<f64>>, String> {
    let mut expected: BTreeMap<String, Vec<f64>> =
        old.results.iter().zip(results).map(|(result, value)| (key(result), value.f64s())).collect();
    let by_role = |role: ResultRole| {
        let position = old.results.iter().position(|result| result.role == role);
        position.map(|position| results[position].f64s()).ok_or(format!("no result has the role {role:?}"))
    };
    let state = |name: String| {
        let position = new.params.iter().position(|param| *param.name == name);
        position.map(|position| inputs[position].f64s()).unwrap_or_default()
    };
    let (loss, count) = (by_role(ResultRole::Loss)?[0], by_role(ResultRole::Count)?[0]);
    let divisor = count.max(1.0);
    let (optimizer, rules) = (&recipe.optimizer, &session.vocabulary.rules);
    let is_step = new.params.iter().any(|param| matches!(param.role, ParamRole::State(_)));
    let mut weights = BTreeMap::new();
    for (param, input) in old.params.iter().zip(inputs) {
        let ParamRole::Weight(info) = &param.role else { continue };
        let original = param.originals().next().unwrap_or_default();
        let group = group_of(recipe, original);
        if group.is_some_and(|group| group.frozen) {
            expected.extend(is_step.then(|| (param.name.to_string(), input.f64s())));
            continue;
        }
        let rule = rules.read(optimizer.rule_of(group)).map_err(|error| error.to_string())?;
        let kept = rule.kinds().iter().map(|kind| state(format!("{kind}.{}", param.name))).collect();
        let [ema, master] = ["ema", "master"].map(|kind| state(format!("{kind}.{}", param.name)));
        let gradient = by_role(ResultRole::Gradient(param.name.clone()))?;
        let decay = decay(recipe, group, original);
        let lies = param.packing().map(|packing| Lies::of(packing)).transpose()?;
        let once = lies.as_ref().map_or_else(|| gradient.clone(), |lies| lies.in_model(&gradient));
        let squares = once.iter().map(|g| (g / divisor).powi(2)).sum();
        let factor = if is_step { by_role(ResultRole::Scale(param.name.clone()))?[0] } else { 1.0 };
        let value = if master.is_empty() { input.f64s() } else { master };
        let shape = old.ty(param.value).shape().to_vec();
        let weight = RefWeight { value, gradient, state: kept, shape, output: info.output };
        let named = rules.get(optimizer.rule_of(group)).map_err(|error| error.to_string())?;
        let lies = lies.filter(|_| !named.is_elementwise());
        let weight = Weight { weight, lies, squares, factor, ema, decay, group };
        weights.insert(param.name.to_string(), weight);
    }
    if !is_step {
        let norm = weights.values().map(|weight| weight.squares).sum::<f64>().sqrt();
        expected.insert("grad_norm".to_owned(), vec![norm]);
        let of_group = |weight: &Weight<'_>| weight.group.map_or("rest", |group| &group.name).to_owned();
        for group in weights.values().map(of_group).collect::<BTreeSet<_>>() {
            let own = weights.values().filter(|weight| of_group(weight) == group);
            let norm = own.map(|weight| weight.squares).sum::<f64>().sqrt();
            expected.insert(format!("grad_norm.{group}"), vec![norm]);
        }
        clip(optimizer.clip, divisor, &mut weights);
    }
    let rate = learning_rate(session, recipe, time)?;
    for (name, mut weight) in weights {
        expected.insert(format!("scale.{name}"), vec![weight.factor]);
        expected.insert(format!("gradient of {name}"), weight.weight.gradient.clone());
        if !is_step {
            continue;
        }
        weight.weight.gradient.iter_mut().for_each(|g| *g *= weight.factor);
        let rate = rate * weight.group.map_or(1.0, |group| group.lr_scale);
        let rule = rules.read(optimizer.rule_of(weight.group)).map_err(|error| error.to_string())?;
        let update = |own: &mut RefWeight| rule.reference(own, rate, time, weight.decay);
        match &weight.lies {
            None => update(&mut weight.weight),
            Some(lies) => lies.update_each(&mut weight.weight, update),
        }
        if let Some(kept) = optimizer.ema {
            let average = weight.ema.iter().zip(&weight.weight.value).map(|(ema, new)| kept * ema + (1.0 - kept) * new);
            expected.insert(format!("ema.{name}"), average.collect());
        }
        expected.insert(format!("master.{name}"), weight.weight.value.clone());
        let kept = rule.kinds().iter().zip(weight.weight.state);
        expected.extend(kept.map(|(kind, value)| (format!("{kind}.{name}"), value)));
        expected.insert(name, weight.weight.value);
    }
    let scalars = [
        ("step", time),
        ("attempts", state("attempts".to_owned()).first().map_or(0.0, |made| made + 1.0)),
        ("loss", loss / divisor),
        ("learning_rate", rate),
        ("count", count),
    ];
    expected.extend(scalars.map(|(name, value)| (name.to_owned(), vec![value])));
    Ok(expected)
}

/// Sets the factor of each weight; with a bound of elements, its gradient.
fn clip(clip: Option<Clip>, divisor: f64, weights: &mut BTreeMap<String, Weight<'_>>) {
    let all = weights.clone();
    for weight in weights.values_mut() {
        let clip = clip.filter(|_| weight.group.is_none_or(|group| group.clip));
        let norm = |same: &dyn Fn(&Weight<'_>) -> bool| {
            let counted = all.values().filter(|other| other.group.is_none_or(|group| group.clip) && same(other));
            counted.map(|other| other.squares).sum::<f64>().sqrt()
        };
        let by_norm = |limit: f64, norm: f64| (limit / (norm + 1e-6)).min(1.0) / divisor;
        weight.factor = match clip {
            None => 1.0 / divisor,
            Some(Clip::Norm(limit)) => by_norm(limit, norm(&|_| true)),
            Some(Clip::GroupNorm(limit)) => by_norm(limit, norm(&|other| other.group == weight.group)),
            Some(Clip::Value(most)) => {
                weight.weight.gradient.iter_mut().for_each(|g| *g = (*g / divisor).clamp(-most, most));
                1.0
            }
        };
    }
}

/// The places of the tensors of the model in a tensor that stores several.
#[derive(Clone, Debug)]
struct Lies {
    /// The shapes of the tensors.
    shapes: Vec<Vec<usize>>,
    /// For each element that is stored its place in the tensors end to end.
    places: Vec<usize>,
}

impl Lies {
    fn of(packing: &Packing) -> Result<Self, String> {
        let mut next = 0;
        let mut numbered = |part: &Part| {
            let start = next;
            next += part.num_elements();
            HostTensor::from_ints(DType::S32, part.shape.as_slice(), (start..next).map(|place| place as i128))
        };
        let parts: Vec<HostTensor> = packing.parts.iter().map(&mut numbered).collect();
        let stored = packing.pack(&parts.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())?;
        let places = stored.ints().into_iter().map(|place| place as usize).collect();
        Ok(Self { shapes: packing.parts.iter().map(|part| part.shape.clone()).collect(), places })
    }

    /// The tensors end to end; of copies the first.
    fn in_model(&self, stored: &[f64]) -> Vec<f64> {
        let mut model = vec![0.0; self.shapes.iter().map(|shape| shape.iter().product::<usize>()).sum()];
        self.places.iter().zip(stored).rev().for_each(|(&place, &value)| model[place] = value);
        model
    }

    fn packed(&self, model: &[f64]) -> Vec<f64> {
        self.places.iter().map(|&place| model[place]).collect()
    }

    /// Has each tensor updated by itself.
    fn update_each(&self, weight: &mut RefWeight, update: impl Fn(&mut RefWeight)) {
        let (value, gradient) = (self.in_model(&weight.value), self.in_model(&weight.gradient));
        let state: Vec<_> = weight.state.iter().map(|kept| self.in_model(kept)).collect();
        let (mut new, mut kept) = (Vec::new(), vec![Vec::new(); state.len()]);
        for shape in &self.shapes {
            let own = new.len()..new.len() + shape.iter().product::<usize>();
            let state = state.iter().map(|kept| kept[own.clone()].to_vec()).collect();
            let (value, gradient) = (value[own.clone()].to_vec(), gradient[own].to_vec());
            let mut own = RefWeight { value, gradient, state, shape: shape.clone(), output: weight.output };
            update(&mut own);
            new.extend(own.value);
            kept.iter_mut().zip(own.state).for_each(|(all, own)| all.extend(own));
        }
        weight.value = self.packed(&new);
        weight.state = kept.iter().map(|kept| self.packed(kept)).collect();
    }
}

/// The group that a parameter of the model is in.
fn group_of<'r>(recipe: &'r Recipe, name: &str) -> Option<&'r Group> {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, name));
    recipe.optimizer.groups.iter().find(|group| any(&group.params) && !any(&group.except))
}

fn decay(recipe: &Recipe, group: Option<&Group>, name: &str) -> f64 {
    let (decay, spared) = (recipe.optimizer.weight_decay, &recipe.optimizer.no_decay);
    let decay = group.and_then(|group| group.weight_decay).unwrap_or(decay);
    if spared.iter().any(|pattern| matches_pattern(pattern, name)) { 0.0 } else { decay }
}

/// The learning rate of an update, counted from 1.
fn learning_rate(session: &Session, recipe: &Recipe, time: f64) -> Result<f64, String> {
    let (schedule, peak) = (&recipe.schedule, recipe.optimizer.lr);
    let warmup = f64::from(schedule.warmup);
    if time <= warmup {
        return Ok(peak * time / warmup);
    }
    let shape = session.vocabulary.shapes.read(schedule).map_err(|error| error.to_string())?;
    Ok(peak * shape.reference(time))
}
