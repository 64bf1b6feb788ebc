//! How the programs of a recipe are started on Neuron.

use super::environment::unknown_names;
use super::{environment, flags};
use crate::tables::{Setter, Variable};
use crate::{Generation, Tables};
use halite_bundle::Launch;
use halite_recipe::{Parallel, Planned, Recipe, TargetName, not_compiled};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use serde::Serialize;

/// How the modules of a recipe are started; `None` for a target that is not Neuron's.
pub fn launch(recipe: &Recipe) -> Option<Launch> {
    Generation::of(recipe).map(|_| {
        let forbidden = forbidden().map(|variable| variable.name.clone()).collect();
        Launch { world_size: world_size(recipe), forbidden }
    })
}

/// Processes that run a program together, one on each rank. A layout with which nothing is compiled has one.
fn world_size(recipe: &Recipe) -> u32 {
    let ranks = recipe.ranks(true).map_or(1, |mesh| mesh.num_ranks());
    u32::try_from(ranks).unwrap_or(u32::MAX)
}

/// Variables under which nothing starts, neither a program nor the compiler: a library that may be loaded reads them.
pub fn forbidden() -> impl Iterator<Item = &'static Variable> {
    Tables::builtin().variables.iter().filter(|variable| variable.forbidden)
}

/// All that surrounds the programs of a recipe for Neuron.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Surroundings {
    /// The generation, as recipes name it.
    pub target: TargetName,
    /// Processes that run a program together.
    pub world_size: u32,
    /// The layout over devices that the recipe states.
    pub planned: Option<Parallel>,
    /// What of that is not compiled, with what holds instead.
    pub not_compiled: IndexMap<String, String>,
    /// Variables of all processes.
    pub environment: IndexMap<String, String>,
    /// Those of them that nothing is known of: only who wrote the recipe vouches for them.
    pub unknown: Vec<String>,
    /// Variables that differ from process to process, with what they are.
    pub per_process: IndexMap<String, String>,
    /// Variables that must not be set, with what says it instead.
    pub forbidden: IndexMap<String, String>,
    /// Flags of `neuronx-cc`.
    pub flags: Vec<String>,
}

impl Surroundings {
    /// The surroundings of a recipe.
    ///
    /// # Errors
    /// When its target is not Neuron's.
    pub fn of(recipe: &Recipe) -> Result<Self> {
        let Some(launch) = launch(recipe) else {
            let message = format!("a program for `{}` has no environment and no flags", recipe.target);
            let error = Diagnostic::error(codes::OTHER_TARGET, message);
            return Err(error
                .note("only programs for Neuron are started by something other than Halite")
                .help("compile it with e.g. `--target trn1`, or add `--set target=trn1` to a recipe"));
        };
        let instead = |variable: &Variable| variable.instead.clone().unwrap_or_default();
        let launcher = |variable: &&Variable| variable.set_by == Setter::Launcher;
        let per_process = Tables::builtin().variables.iter().filter(launcher);
        let environment = environment(recipe);
        Ok(Self {
            target: recipe.target.clone(),
            world_size: launch.world_size,
            planned: recipe.parallel.clone(),
            not_compiled: match launch.world_size {
                1 => not_compiled(recipe).map(Planned::into_pair).collect(),
                _ => IndexMap::new(),
            },
            unknown: unknown_names(&environment),
            environment,
            per_process: per_process.map(|variable| (variable.name.clone(), variable.meaning.clone())).collect(),
            forbidden: forbidden().map(|variable| (variable.name.clone(), instead(variable))).collect(),
            flags: flags(recipe),
        })
    }

    /// What the processes are, in sentences.
    pub(super) fn processes(&self) -> Vec<String> {
        let count = if self.world_size == 1 { "one process" } else { "all processes" };
        let mut lines = vec![match self.world_size {
            1 => format!("A program was compiled for one replica on `{}`: {count} runs it.", self.target),
            world => format!("A program was compiled for {world} replicas on `{}`: {count} run it.", self.target),
        }];
        if !self.not_compiled.is_empty() {
            let world = self.world_size;
            lines.push(format!(
                "The world size is {world}, since nothing is compiled for the layout that the recipe states:"
            ));
            lines.extend(self.not_compiled.iter().map(|(stated, told)| format!("  {stated} is {told}.")));
            lines.push(
                "`parallel.data` in the recipe says how many replicas there are; then it is compiled.".to_owned(),
            );
        }
        lines
    }
}
