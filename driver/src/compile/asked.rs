//! The roles that are compiled for those that are asked for.

use halite_bundle::ModuleRole;
use halite_recipe::{Accumulate, Form, Recipe};
use halite_support::{Diagnostic, codes};
use halite_target::Target;
use indexmap::IndexSet;

/// The roles that are compiled for those that are asked for, each once: where micro-batches are accumulated by two modules, as stages of a
/// pipeline do, these stand for the training step.
///
/// # Errors
/// When the training step is to stand beside one of the two, so that it would be made more than once.
pub(super) fn step_roles(
    asked: &[ModuleRole],
    recipe: &Recipe,
    target: &dyn Target,
) -> Result<IndexSet<ModuleRole>, Diagnostic> {
    let (whole, parts) = (ModuleRole::TRAIN_STEP, [ModuleRole::GRAD_STEP, ModuleRole::UPDATE_STEP]);
    let form = recipe.accumulate.and_then(|accumulate| accumulate.form).unwrap_or(target.accumulate_form());
    let two = recipe.stages() > 1 || form == Form::Two && recipe.sizes()?.accumulate > 1;
    if !two && asked.contains(&whole) {
        Accumulate::check_in_one(recipe.sizes()?.accumulate)?;
    }
    let of = |role: &ModuleRole| if two && *role == whole { parts.to_vec() } else { vec![role.clone()] };
    let roles: IndexSet<ModuleRole> = asked.iter().flat_map(of).collect();
    match parts.iter().find(|part| roles.contains(*part)) {
        Some(part) if roles.contains(&whole) => {
            let message = format!("`{}` is a whole update, and `{}` a part of another", whole.name(), part.name());
            let help = "ask for the whole: where two modules accumulate micro-batches, they stand for it";
            Err(Diagnostic::error(codes::MODULE, message).help(help))
        }
        _ => Ok(roles),
    }
}
