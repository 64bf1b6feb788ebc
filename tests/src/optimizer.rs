//! An independent model of what `clip` and `update` define, in plain `f64` arithmetic.

use crate::inputs::{InputKind, seeded_inputs};
use crate::relation::{Tolerance, agree};
use halite::Session;
use halite_ir::{FuncResult, Function, Interpreter, Module, Param, ParamRole, ResultRole};
use halite_passes::matches_pattern;
use halite_passes::update::RefWeight;
use halite_recipe::{Clip, Recipe};
use halite_tensor::HostTensor;
use std::collections::BTreeMap;

/// How far an update may be from the model, norm-wise, in units of roundoff of its element type.
const ULPS: f64 = 16.0;

/// Completed updates for which the step is tried: the first update, one in the middle, one past the schedule.
const STEPS: [i128; 3] = [0, 7, 1000];

/// Checks that the entry of `after` scales gradients and updates the state as the recipe says, given the gradients that the entry
/// of `before` computes.
///
/// # Errors
/// Naming the step and the result that differs.
pub fn check_update(before: &Module, after: &Module, recipe: &Recipe, session: &Session) -> Result<(), String> {
    let registry = &session.registry;
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    for step in STEPS {
        let mut inputs = seeded_inputs(new, InputKind::Plain, 11);
        prepare(new, &mut inputs, step);
        let gradients = Interpreter::of(before, registry)
            .run(old, inputs[..old.params.len()].to_vec())
            .map_err(|error| error.to_string())?;
        let results = Interpreter::of(after, registry).run(new, inputs.clone()).map_err(|error| error.to_string())?;
        let expected = model(session, recipe, old, &gradients, new, &inputs, step as f64 + 1.0)?;
        for (result, found) in new.results.iter().zip(results) {
            let wanted = expected.get(&key(result)).ok_or_else(|| format!("nothing defines `{}`", result.name))?;
            let wanted = HostTensor::from_f64s(found.dtype(), found.shape().clone(), wanted.iter().copied());
            agree(&[found], &[wanted], Tolerance::Ulps(ULPS))
                .map_err(|error| format!("update {}: `{}`: {error}", step + 1, result.name))?;
        }
    }
    Ok(())
}

/// Sets the counter, and makes second moments positive.
fn prepare(entry: &Function, inputs: &mut [HostTensor], step: i128) {
    for (param, input) in entry.params.iter().zip(inputs) {
        let ParamRole::State(spec) = &param.role else { continue };
        let (dtype, shape) = (input.dtype(), input.shape().clone());
        *input = match &*spec.kind {
            "step" => HostTensor::from_ints(dtype, shape, [step]),
            "v" => HostTensor::from_f64s(dtype, shape, input.f64s().into_iter().map(f64::abs)),
            _ => continue,
        };
    }
}

/// What a result is, by its name and whether its role says more than the name does.
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
    let optimizer = &recipe.optimizer;
    let rule = session.vocabulary.rules.read(&optimizer.rule).map_err(|error| error.to_string())?;
    let (mut weights, mut squares) = (BTreeMap::new(), 0.0);
    for (param, input) in old.params.iter().zip(inputs) {
        let ParamRole::Weight(_) = &param.role else { continue };
        let kept = rule.kinds().iter().map(|kind| state(format!("{kind}.{}", param.name))).collect();
        let gradient = by_role(ResultRole::Gradient(param.name.clone()))?;
        let decay = decay(recipe, param.originals().next().unwrap_or_default());
        let once = |&(at, _): &(usize, &f64)| !is_copy(old, param, at);
        let counted = gradient.iter().enumerate().filter(once).map(|(_, g)| (g / divisor).powi(2));
        squares += counted.sum::<f64>();
        let shape = old.ty(param.value).shape().to_vec();
        let weight = RefWeight { value: input.f64s(), gradient, state: kept, shape };
        weights.insert(param.name.to_string(), (weight, decay));
    }
    let norm = squares.sqrt();
    let clipping = match optimizer.clip {
        None => 1.0,
        Some(Clip::Norm(limit)) => (limit / (norm + 1e-6)).min(1.0),
        Some(other) => return Err(format!("there is no model of {other:?}")),
    };
    let factor = clipping / divisor;
    let rate = learning_rate(session, recipe, time)?;
    expected.extend(weights.keys().map(|name| (format!("scale.{name}"), vec![factor])));
    let is_step = new.params.iter().any(|param| matches!(param.role, ParamRole::State(_)));
    for (name, (mut weight, decay)) in weights.into_iter().filter(|_| is_step) {
        weight.gradient.iter_mut().for_each(|g| *g *= factor);
        rule.reference(&mut weight, rate, time, decay);
        let kept = rule.kinds().iter().zip(weight.state);
        expected.extend(kept.map(|(kind, value)| (format!("{kind}.{name}"), value)));
        expected.insert(name, weight.value);
    }
    let scalars =
        [("step", time), ("loss", loss / divisor), ("grad_norm", norm), ("learning_rate", rate), ("count", count)];
    expected.extend(scalars.map(|(name, value)| (name.to_owned(), vec![value])));
    Ok(expected)
}

/// Whether an element of a packed weight is a second copy of one of the model.
fn is_copy(entry: &Function, param: &Param, at: usize) -> bool {
    let Some(packing) = param.packing() else { return false };
    let shape = entry.ty(param.value).shape();
    let row = at / shape[2..].iter().product::<usize>();
    let (rank, mut row) = (row / shape[1], row % shape[1]);
    for part in &packing.parts {
        let rows = part.shape[usize::from(part.transposed)] * part.copies / packing.ranks;
        if row < rows {
            return rank % part.copies != 0;
        }
        row -= rows;
    }
    false
}

fn decay(recipe: &Recipe, name: &str) -> f64 {
    let (decay, spared) = (recipe.optimizer.weight_decay, &recipe.optimizer.no_decay);
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
