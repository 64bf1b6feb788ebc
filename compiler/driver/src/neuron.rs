//! What surrounds a program on Neuron: the flags of `neuronx-cc`, the rounding and the environment of its processes, and how
//! they are started.
//!
//! Everything that could change element types or rounding is pinned here from the recipe's precision, and everything that has
//! a default is written out, since defaults move between versions. All of it goes to the manifest. A recipe or a manifest
//! that says otherwise is refused, since the program would no longer mean what it says. What is known of flags and variables
//! stands in the tables of `halite-target`.

mod check_flags;
mod environment;
mod flags;
pub(crate) mod given;
mod launch;
mod script;
mod shell;

pub use environment::environment;
pub use flags::flags;
pub use launch::{Surroundings, forbidden, launch};

use crate::layout;
use halite_spec::target::CompilerVersion;
use halite_spec::{Manifest, Precision, Recipe, RoundingChoice, RoundingMode};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_target::Tables;

/// How narrowing rounds under a precision.
pub fn rounding(precision: &Precision) -> RoundingChoice {
    let mode = precision.rounding;
    RoundingChoice { mode, sr: (mode == RoundingMode::Sr).then_some(precision.sr) }
}

/// Every variable and flag of a recipe that would change what its program means or that nothing takes, each with its key.
pub fn check(recipe: &Recipe) -> Diagnostics {
    environment::check(recipe).chain(check_flags::check(recipe)).collect()
}

/// What deserves a look in the settings of a recipe for Neuron, each with its key: flags that nothing documents, and a layout
/// over devices that the target does not take.
pub fn warnings(recipe: &Recipe) -> Diagnostics {
    check_flags::warnings(recipe).into_iter().chain(layout::warning(recipe)).collect()
}

/// The version of `neuronx-cc` by whose flags and rules a recipe is judged: the nearest to its own that the tables know.
pub(crate) fn version(recipe: &Recipe) -> &CompilerVersion {
    Tables::builtin().nearest(recipe.neuron.compiler.as_ref())
}

/// Whether a manifest pins what its own recipe says.
///
/// # Errors
/// When its environment, flags, rounding or launch are others; the first that differs.
pub(crate) fn check_manifest(manifest: &Manifest) -> Result<(), Diagnostic> {
    let recipe = &manifest.recipe;
    environment::check_manifest(manifest)?;
    let wrong = |message: &str| Err(Diagnostic::error(codes::ENVIRONMENT, message));
    let say = |flags: &[String]| if flags.is_empty() { "none".to_owned() } else { format!("`{}`", flags.join(" ")) };
    let expected = flags(recipe);
    if manifest.flags != expected {
        return wrong(&format!("the flags are {}, its recipe makes them {}", say(&manifest.flags), say(&expected)));
    }
    if manifest.rounding != rounding(&recipe.precision) {
        return wrong("the rounding is not that of its recipe");
    }
    if manifest.launch != launch(recipe) {
        return wrong("the launch is not that of its recipe");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
