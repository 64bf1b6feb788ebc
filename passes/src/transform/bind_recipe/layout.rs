//! Checks the placement of weights in a recipe against the weights of the model.

use super::patterns::{is_unmatched, unmatched, weight_names};
use halite_ir::Function;
use halite_recipe::Parallel;
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexSet;

/// # Errors
/// When a pattern of `parallel.place` matches no weight, or no weight has a dimension that `parallel.shard` names.
pub(super) fn check_layout(entry: &Function, parallel: &Parallel) -> Result<()> {
    let weights = || entry.params.iter().filter(|param| param.weight().is_some());
    let names = weight_names(entry);
    if let Some(pattern) = parallel.place.keys().find(|pattern| is_unmatched(pattern, &names)) {
        return Err(unmatched("`parallel.place`: the", pattern, &names, format!("parallel.place.{pattern}")));
    }
    // The names that are there by default are those of all models that Halite has.
    if parallel.shard.is_default() || weights().any(|param| param.packing().is_some()) {
        return Ok(());
    }
    let dims = weights().filter_map(|param| param.weight()?.dims.as_deref()).flatten();
    let known: IndexSet<&str> = dims.flat_map(|dim| dim.iter()).filter_map(|factor| factor.name.as_deref()).collect();
    match parallel.shard.tensor.iter().position(|name| !known.contains(&**name)) {
        None => Ok(()),
        Some(at) => {
            let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("`parallel.shard`: no dimension of a parameter is `{}`", parallel.shard.tensor[at]);
            Err(Diagnostic::error(codes::PATTERN, message)
                .note(format!("dimensions are made of {}", names.join(", ")))
                .help("name one of these, or a pattern of parameters in `parallel.place`")
                .key(format!("parallel.shard.tensor.{at}")))
        }
    }
}
