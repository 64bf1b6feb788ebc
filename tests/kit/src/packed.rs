//! Inputs and results of a model before and after some of its weights are stored as one.

use halite_ir::{Function, Param, ParamRole, ResultRole};
use halite_tensor::{Content, HostTensor, Packing};
use std::collections::BTreeMap;

/// Inputs of `old` as `new` stores them: what a weight or a slot packs is packed, what `new` lacks is left out, keys of random bits
/// are there if they are new, everything else stays.
///
/// # Errors
/// Naming the parameter of `new` for which there is no input.
pub fn stored_as(old: &Function, new: &Function, inputs: Vec<HostTensor>) -> Result<Vec<HostTensor>, String> {
    if old.params.len() == new.params.len() && !new.params.iter().any(|param| param.packing().is_some()) {
        return Ok(inputs);
    }
    let named: BTreeMap<&str, &HostTensor> = old.params.iter().map(|param| &*param.name).zip(&inputs).collect();
    let stored = |param: &Param| {
        if let Some(&input) = named.get(&*param.name) {
            return Ok(input.clone());
        }
        if let ParamRole::Known(Content::Keys(keys)) = &param.role {
            return Ok(keys.tensor());
        }
        let unknown = || format!("the input `{}` is new", param.name);
        let (packing, names) = parts(new, param).ok_or_else(unknown)?;
        let parts: Option<Vec<_>> = names.iter().map(|name| named.get(&**name).copied()).collect();
        packing.pack(&parts.ok_or_else(unknown)?).map_err(|error| error.to_string())
    };
    new.params.iter().map(stored).collect()
}

/// The results of a function that have a name, by that; gradients and replacements by that of the parameter in the model.
///
/// # Errors
/// When the copies of a part differ.
pub fn in_model(function: &Function, results: &[HostTensor]) -> Result<BTreeMap<String, HostTensor>, String> {
    let mut named = BTreeMap::new();
    for (result, tensor) in function.results.iter().zip(results) {
        let name = match &result.role {
            ResultRole::Gradient(name) | ResultRole::State(name) => name,
            _ => &result.name,
        };
        let param = function.params.iter().find(|param| param.name == *name);
        match param.and_then(|param| parts(function, param)) {
            None => drop(named.insert(name.to_string(), tensor.clone())),
            Some((packing, names)) => {
                named.extend(names.into_iter().zip(packing.unpack(tensor).map_err(|error| error.to_string())?));
            }
        }
    }
    Ok(named)
}

/// The packing of a weight or of a slot of one, and the names of its parts.
fn parts<'a>(function: &'a Function, param: &'a Param) -> Option<(&'a Packing, Vec<String>)> {
    let packing = halite_ir::NamedParams::of(function).packing(param)?;
    let prefix = match &param.role {
        ParamRole::State(spec) => format!("{}.", spec.kind),
        _ => String::new(),
    };
    Some((packing, packing.parts.iter().map(|part| format!("{prefix}{}", part.name)).collect()))
}
