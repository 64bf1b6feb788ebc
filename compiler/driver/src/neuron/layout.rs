//! The layout over devices that a recipe plans.

use halite_spec::Recipe;
use halite_support::{Diagnostic, codes};
use halite_target::Tables;

/// A degree of tensor parallelism that no group of cores of the target has. Nothing of the layout is compiled yet, so this
/// is a warning.
pub(super) fn warning(recipe: &Recipe) -> Option<Diagnostic> {
    let tensor = recipe.parallel?.tensor;
    let groups = &Tables::builtin().hardware(recipe.target)?.groups;
    if groups.sizes.contains(&tensor) || tensor % groups.multiple == 0 {
        return None;
    }
    let sizes: Vec<String> = groups.sizes.iter().map(u32::to_string).collect();
    let message = format!("collectives on `{}` take no group of {tensor} cores", recipe.target);
    let warning = Diagnostic::warning(codes::RECIPE_CLASH, message)
        .note(format!("known from {}", groups.provenance.source))
        .help(format!("choose {}, or a multiple of {}", sizes.join(", "), groups.multiple));
    Some(warning.key("parallel.tensor"))
}
