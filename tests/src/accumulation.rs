//! An independent model of what the passes that accumulate define: sums over micro-batches, in plain `f64` arithmetic.

use halite_ir::{Function, Interpreter, Module, ParamRole, Registry, ResultRole};
use halite_tensor::HostTensor;
use halite_test_kit::{InputKind, Tolerance, agree, seeded_inputs};
use std::collections::BTreeMap;

/// The tolerance of a sum against the model, in units of roundoff of its element type.
const ULPS: f64 = 16.0;

/// Values by the names of parameters.
type Values = BTreeMap<String, HostTensor>;

/// Checks that the entry of `after` adds up what the entry of `before` gives for one micro-batch, or takes the place of it.
///
/// # Errors
/// Naming the result that differs.
pub(crate) fn check_accumulation(before: &Module, after: &Module, registry: &Registry) -> Result<(), String> {
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    let inputs = seeded_inputs(new, InputKind::Plain, 11);
    let named: Values = new.params.iter().map(|param| param.name.to_string()).zip(inputs.iter().cloned()).collect();
    let found = Interpreter::of(after, registry).run(new, inputs).map_err(|error| error.to_string())?;
    let run = |inputs| Interpreter::of(before, registry).run(old, inputs).map_err(|error| error.to_string());
    let parts = micro_batches(old, &named).into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    for (result, found) in new.results.iter().zip(found) {
        let wanted = expected(old, &parts, &named, &result.role, found.len())?;
        let wanted = HostTensor::from_f64s(found.dtype(), found.shape().clone(), wanted);
        agree(&[found], &[wanted], Tolerance::Ulps(ULPS)).map_err(|error| format!("`{}`: {error}", result.name))?;
    }
    Ok(())
}

/// The inputs of each micro-batch; none where the batch is not read any more.
fn micro_batches(old: &Function, named: &Values) -> Vec<Vec<HostTensor>> {
    let is_batch = |role: &ParamRole| *role == ParamRole::Batch;
    let sizes = old.params.iter().filter(|param| is_batch(&param.role)).map(|param| {
        let whole = named.get(&*param.name)?;
        Some(whole.len() / old.ty(param.value).shape().num_elements())
    });
    let count = sizes.min().flatten().unwrap_or(0);
    let part = |at: usize| {
        let input = |param: &halite_ir::Param| {
            let (whole, shape) = (&named[&*param.name], old.ty(param.value).shape());
            if !is_batch(&param.role) {
                return whole.clone();
            }
            let values = whole.f64s()[at * shape.num_elements()..][..shape.num_elements()].to_vec();
            HostTensor::from_f64s(whole.dtype(), shape.clone(), values)
        };
        old.params.iter().map(input).collect()
    };
    (0..count).map(part).collect()
}

/// The expected result of the new entry for a role.
fn expected(
    old: &Function,
    parts: &[Vec<HostTensor>],
    named: &Values,
    role: &ResultRole,
    len: usize,
) -> Result<Vec<f64>, String> {
    // The sum that a piece of state holds is that of the result that it is named after.
    let of_state = |name: &str| match name {
        "accum_loss" => Ok(ResultRole::Loss),
        "accum_count" => Ok(ResultRole::Count),
        _ => name.strip_prefix("accum.").map(|of| ResultRole::Gradient(of.into())).ok_or(format!("what is `{name}`?")),
    };
    let (of, start) = match role {
        ResultRole::State(name) => (of_state(name)?, named[&**name].f64s()),
        role => (role.clone(), vec![0.0; len]),
    };
    if parts.is_empty() {
        let state = named.iter().find(|(name, _)| of_state(name).is_ok_and(|held| held == of));
        let (_, held) = state.ok_or(format!("nothing holds {of:?}"))?;
        let is_reset = matches!(role, ResultRole::State(_));
        let sign = |value: f64| if of == ResultRole::Count { value.abs() } else { value };
        return Ok(held.f64s().into_iter().map(|value| if is_reset { 0.0 } else { sign(value) }).collect());
    }
    let at = old.results.iter().position(|result| result.role == of).ok_or(format!("no result is {of:?}"))?;
    let add = |sum: Vec<f64>, part: &Vec<HostTensor>| sum.iter().zip(part[at].f64s()).map(|(sum, x)| sum + x).collect();
    Ok(parts.iter().fold(start, add))
}
