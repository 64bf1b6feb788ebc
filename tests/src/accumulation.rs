//! An independent model of what the passes that accumulate define: sums over micro-batches, in plain `f64` arithmetic.

use halite_ir::{Function, Interpreter, Module, Param, ParamRole, Registry, ResultRole};
use halite_tensor::{Content, HostTensor};
use halite_test_kit::{InputKind, Tolerance, agree, seeded_inputs};
use std::collections::BTreeMap;

/// The tolerance of a sum against the model, in units of roundoff of its element type.
const ULPS: f64 = 16.0;

/// Values by the names of parameters.
type Values = BTreeMap<String, HostTensor>;

/// Checks that the entry of `after` adds up what the entry of `before` gives for one micro-batch, as the first of an update and as another,
/// or takes the place of it.
///
/// # Errors
/// Naming the result that differs.
pub(crate) fn check_accumulation(before: &Module, after: &Module, registry: &Registry) -> Result<(), String> {
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    for number in [0, 1] {
        let is_number = |param: &Param| param.role == ParamRole::Known(Content::MicroBatch);
        let mut inputs = seeded_inputs(new, InputKind::Plain, 11);
        for (param, input) in new.params.iter().zip(&mut inputs).filter(|(param, _)| is_number(param)) {
            *input = HostTensor::from_ints(new.ty(param.value).dtype(), [], [number]);
        }
        let named: Values = new.params.iter().map(|param| param.name.to_string()).zip(inputs.iter().cloned()).collect();
        let found = Interpreter::of(after, registry).run(new, inputs).map_err(|error| error.to_string())?;
        let run = |inputs| Interpreter::of(before, registry).run(old, inputs).map_err(|error| error.to_string());
        let parts = micro_batches(old, &named).into_iter().map(run).collect::<Result<Vec<_>, _>>()?;
        let model = Model { old, parts: &parts, named: &named, is_first: number == 0 };
        for (result, found) in new.results.iter().zip(found) {
            let wanted = model.expected(&result.role, found.len())?;
            let wanted = HostTensor::from_f64s(found.dtype(), found.shape().clone(), wanted);
            let place = || format!("`{}` of micro-batch {number}", result.name);
            agree(&[found], &[wanted], Tolerance::Ulps(ULPS)).map_err(|error| format!("{}: {error}", place()))?;
        }
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

/// The new entry as it is expected to be.
struct Model<'m> {
    old: &'m Function,
    /// The results of the old entry for each micro-batch; none where the batch is not read any more.
    parts: &'m [Vec<HostTensor>],
    named: &'m Values,
    /// Whether it is called for the first micro-batch of an update, which starts the sums.
    is_first: bool,
}

impl Model<'_> {
    /// The expected result for a role.
    fn expected(&self, role: &ResultRole, len: usize) -> Result<Vec<f64>, String> {
        // The sum that a piece of state holds is that of the result that it is named after.
        let of_state = |name: &str| match name {
            "accum_loss" => Ok(ResultRole::Loss),
            "accum_count" => Ok(ResultRole::Count),
            _ => name
                .strip_prefix("accum.")
                .map(|of| ResultRole::Gradient(of.into()))
                .ok_or(format!("what is `{name}`?")),
        };
        let (of, start) = match role {
            ResultRole::State(name) if self.is_first => (of_state(name)?, vec![0.0; len]),
            ResultRole::State(name) => (of_state(name)?, self.named[&**name].f64s()),
            role => (role.clone(), vec![0.0; len]),
        };
        if self.parts.is_empty() {
            let state = self.named.iter().find(|(name, _)| of_state(name).is_ok_and(|held| held == of));
            let (_, held) = state.ok_or(format!("nothing holds {of:?}"))?;
            return Ok(held.f64s());
        }
        let place = self.old.results.iter().position(|result| result.role == of);
        let at = place.ok_or(format!("no result is {of:?}"))?;
        let add =
            |sum: Vec<f64>, part: &Vec<HostTensor>| sum.iter().zip(part[at].f64s()).map(|(sum, x)| sum + x).collect();
        Ok(self.parts.iter().fold(start, add))
    }
}
