//! Settings of the processes that run a program on Neuron: the flags of `neuronx-cc`, the rounding, the environment, and the launch.
//!
//! Everything that could change element types or rounding is pinned here from the recipe's precision, and everything that has
//! a default is written out, since defaults move between versions. All of it goes to the manifest. A recipe or a manifest
//! that says otherwise is refused, since the program would no longer mean what it says. The known flags and variables are in the
//! [tables](crate::tables).

mod check_allow;
mod check_flags;
mod environment;
mod flags;
pub(crate) mod given;
mod jax;
mod launch;
mod script;
mod shell;

pub use environment::environment;
pub use flags::flags;
pub use jax::{Mismatch, mismatches};
pub use launch::{Profile, Surroundings, forbidden, launch};

use crate::tables::CompilerVersion;
use crate::{Generation, Neuron, Tables};
use halite_bundle::Manifest;
use halite_recipe::{Divides, MeshAxis, Recipe};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_target::RunSettings;

/// The platform that Neuron's PJRT plugin is taken to report, in whatever case. Inferred: it is the name under which JAX knows
/// the plugin of the package `libneuronxla`, and no run was seen.
const PLATFORM: &str = "neuron";

/// Every variable, flag and rule in the table of a recipe that would change what its program means, that nothing takes or that
/// cannot be allowed, each with its key.
pub fn check(recipe: &Recipe) -> Diagnostics {
    let table = &Neuron::of(recipe);
    let errors = check_allow::check(&table.allow).chain(environment::check(table));
    errors.chain(check_flags::check(recipe, table)).collect()
}

/// Warnings about the settings of a recipe for Neuron, each with its key: a version of the compiler that the tables do not know, flags
/// that nothing documents, and a layout over devices that the generation does not take.
pub fn warnings(recipe: &Recipe) -> Diagnostics {
    check_flags::warnings(&Neuron::of(recipe)).into_iter().chain(group_size(recipe)).collect()
}

/// The version of `neuronx-cc` by whose flags and rules a recipe is judged: the nearest to its own that the tables know.
pub(crate) fn version(table: &Neuron) -> CompilerVersion {
    Tables::builtin().nearest(table.compiler.as_ref()).clone()
}

/// The settings of the processes that run a program.
pub fn of(recipe: &Recipe) -> RunSettings {
    let platform = Generation::of(recipe).map(|_| PLATFORM.to_owned());
    RunSettings { environment: environment(recipe), flags: flags(recipe), launch: launch(recipe), platform }
}

/// Checks that a manifest pins what its own recipe says.
///
/// # Errors
/// When its environment, flags or launch are others; the first that differs.
pub(crate) fn check_manifest(manifest: &Manifest) -> Result<()> {
    environment::check_manifest(manifest)?;
    of(&manifest.recipe).check(manifest)
}

/// Warns of an axis whose ranks share weights and whose size is no size of a group of cores. Collectives that a module has are checked
/// by the rules.
fn group_size(recipe: &Recipe) -> Option<Diagnostic> {
    let parallel = recipe.parallel.as_ref()?;
    let groups = &Tables::builtin().hardware(Generation::of(recipe)?)?.groups;
    let is_taken = |ranks: u32| groups.sizes.contains(&ranks) || ranks.is_multiple_of(groups.multiple);
    let axis = MeshAxis::that_divide(Divides::Weights).find(|&axis| !is_taken(parallel.degree(axis)))?;
    let ranks = parallel.degree(axis);
    let sizes: Vec<String> = groups.sizes.iter().map(u32::to_string).collect();
    let message = format!("collectives on `{}` take no group of {ranks} cores", recipe.target);
    let warning = Diagnostic::warning(codes::RECIPE_CLASH, message)
        .note(format!("known from {}", groups.provenance.source))
        .help(format!("choose {}, or a multiple of {}", sizes.join(", "), groups.multiple));
    Some(warning.key(axis.key()))
}

#[cfg(test)]
mod tests;
