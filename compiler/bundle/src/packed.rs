//! Parameters that store several tensors of the model, and what the model calls these.

use halite_tensor::Packing;

/// What the model calls the tensors in `name`: as their packing does for a weight, and with the name of the slot before
/// that for state of the weight `of`.
pub fn part_names(packing: &Packing, name: &str, of: Option<&str>) -> Vec<String> {
    let slot = of.and_then(|weight| name.strip_suffix(weight)).unwrap_or_default();
    packing.parts.iter().map(|part| format!("{slot}{}", part.name)).collect()
}

/// Elements of the tensors of the model in a packing, copies not counted.
pub fn model_elements(packing: &Packing) -> u64 {
    packing.parts.iter().map(|part| part.num_elements() as u64).sum()
}
