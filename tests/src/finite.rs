//! An independent model of what `finite` says.

use halite_ir::{FuncResult, Function, Interpreter, Module, ParamRole, Registry, ResultRole};
use halite_recipe::Recipe;
use halite_tensor::HostTensor;
use halite_test_kit::{InputKind, seeded_inputs};

/// Values that replace the first element of a parameter.
const TRIED: [f64; 4] = [0.5, f64::INFINITY, f64::NAN, 1e30];

/// Checks that `after` says whether the loss and the norm of the gradient are finite, where the recipe has updates skipped that are not:
/// with each of some values as the first element of each batch input and each weight.
///
/// # Errors
/// Naming the value for which it says otherwise.
pub(crate) fn check_finite(
    before: &Module,
    after: &Module,
    recipe: &Recipe,
    registry: &Registry,
) -> Result<(), String> {
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    let said = new.results.iter().position(|result| result.role == ResultRole::Finite);
    if !recipe.skips_nonfinite() {
        return if said.is_none() { Ok(()) } else { Err("no update is skipped, and something is said".to_owned()) };
    }
    let said = said.ok_or("nothing is said")?;
    for (place, value) in places(old).into_iter().flat_map(|place| TRIED.map(|value| (place, value))) {
        let mut inputs = seeded_inputs(old, InputKind::Plain, 11);
        inputs[place] = with_first(&inputs[place], value);
        let run = |module, function, inputs: Vec<HostTensor>| {
            Interpreter::of(module, registry).run(function, inputs).map_err(|error| error.to_string())
        };
        let results = run(before, old, inputs.clone())?;
        let is_finite = |is: &dyn Fn(&FuncResult) -> bool| {
            let at = old.results.iter().position(is).ok_or("there is no loss or no norm")?;
            Ok::<_, String>(results[at].f64s()[0].is_finite())
        };
        let loss = is_finite(&|result| result.role == ResultRole::Loss)?;
        let norm = is_finite(&|result| &*result.name == "grad_norm")?;
        let found = run(after, new, inputs)?[said].f64s()[0] != 0.0;
        if found != (loss && norm) {
            let input = &old.params[place].name;
            return Err(format!("`finite` is {found} with {value} in `{input}`: loss {loss}, norm {norm}"));
        }
    }
    Ok(())
}

/// The positions of inputs of floats that a step reads.
fn places(entry: &Function) -> Vec<usize> {
    let params = entry.params.iter().enumerate();
    let read = params.filter(|(_, param)| matches!(param.role, ParamRole::Batch | ParamRole::Weight(_)));
    read.filter(|(_, param)| entry.ty(param.value).dtype().is_float()).map(|(at, _)| at).collect()
}

fn with_first(tensor: &HostTensor, value: f64) -> HostTensor {
    let mut values = tensor.f64s();
    values[0] = value;
    HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), values)
}
