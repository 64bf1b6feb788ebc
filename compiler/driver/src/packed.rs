//! Parameters that store several tensors of the model, and what the model calls these.

use halite_ir::{Function, Param, ParamRole};
use halite_tensor::Packing;

/// How a parameter stores several tensors; state is stored as its weight is.
pub(crate) fn packing<'a>(entry: &'a Function, param: &'a Param) -> Option<&'a Packing> {
    match &param.role {
        ParamRole::Weight(info) => info.packing.as_deref(),
        ParamRole::State(info) => {
            let of = info.of.as_ref()?;
            let weight = entry.params.iter().find(|weight| weight.name == *of)?;
            if let ParamRole::Weight(info) = &weight.role { info.packing.as_deref() } else { None }
        }
        ParamRole::Argument | ParamRole::Batch | ParamRole::CausalMask => None,
    }
}

/// The weight that a piece of state belongs to.
pub(crate) fn weight_of(role: &ParamRole) -> Option<&str> {
    if let ParamRole::State(info) = role { info.of.as_deref() } else { None }
}

/// What the model calls the tensors in `name`: as their packing does for a weight, and with the name of the slot before
/// that for state of the weight `of`.
pub(crate) fn part_names(packing: &Packing, name: &str, of: Option<&str>) -> Vec<String> {
    let slot = of.and_then(|weight| name.strip_suffix(weight)).unwrap_or_default();
    packing.parts.iter().map(|part| format!("{slot}{}", part.name)).collect()
}

/// Elements of the tensors of the model in a packing, copies not counted.
pub(crate) fn model_elements(packing: &Packing) -> u64 {
    packing.parts.iter().map(|part| part.shape.iter().map(|&size| size as u64).product::<u64>()).sum()
}

/// Elements of the tensors of the model that a parameter stores, copies not counted.
pub(crate) fn elements(entry: &Function, param: &Param) -> u64 {
    let stored = || entry.ty(param.value).shape().num_elements() as u64;
    packing(entry, param).map_or_else(stored, model_elements)
}
