//! The launch of the programs of a recipe on Neuron.

use super::environment::unknown_names;
use super::jax::{CC_FLAGS, cc_flags};
use super::{environment, flags};
use crate::tables::{Setter, Variable};
use crate::{Generation, Tables};
use halite_bundle::Launch;
use halite_recipe::{Recipe, TargetName};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use serde::Serialize;

/// The launch of the modules of a recipe; `None` for a target that is not Neuron's.
pub fn launch(recipe: &Recipe) -> Option<Launch> {
    Generation::of(recipe).map(|_| {
        let forbidden = forbidden().map(|variable| variable.name.clone()).collect();
        Launch { world_size: world_size(recipe), forbidden }
    })
}

/// Processes that train together, one on each rank of each stage. A layout with which nothing is compiled has one.
fn world_size(recipe: &Recipe) -> u32 {
    let ranks = recipe.ranks(true).map_or(1, |mesh| mesh.num_ranks());
    u32::try_from(ranks).unwrap_or(u32::MAX).saturating_mul(recipe.stages())
}

/// Variables under which nothing starts, neither a program nor the compiler: a library that may be loaded reads them.
pub fn forbidden() -> impl Iterator<Item = &'static Variable> {
    Tables::builtin().variables.iter().filter(|variable| variable.forbidden)
}

/// The kind of program that runs the modules of a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// A program that loads what `neuronx-cc` made, such as `halite train`: a process for each rank.
    #[default]
    Program,
    /// A program in JAX, whose plugin for Neuron compiles by itself: a process for each node, of which all ranks of the node are devices.
    Jax,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Program, Self::Jax];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Jax => "jax",
        }
    }
}

/// The environment, flags and launch of the programs of a recipe for Neuron.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Surroundings {
    /// The kind of program that runs the modules.
    pub profile: Profile,
    /// The generation, as recipes name it.
    pub target: TargetName,
    /// Processes that train together.
    pub world_size: u32,
    /// Stages that the processes are of, as many each. Those of one stage run a program together.
    pub stages: u32,
    /// Variables of all processes.
    pub environment: IndexMap<String, String>,
    /// Those of them that the tables do not know: only the author of the recipe vouches for them.
    pub unknown: Vec<String>,
    /// Variables that differ from process to process, with their meanings.
    pub per_process: IndexMap<String, String>,
    /// Variables that must not be set, with the setting to use instead.
    pub forbidden: IndexMap<String, String>,
    /// Flags of `neuronx-cc`.
    pub flags: Vec<String>,
}

impl Surroundings {
    /// The environment, flags and launch of a recipe.
    ///
    /// # Errors
    /// When its target is not Neuron's.
    pub fn of(recipe: &Recipe, profile: Profile) -> Result<Self> {
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
        let mut environment = environment(recipe);
        let unknown = unknown_names(&environment);
        let mut forbidden: IndexMap<_, _> =
            forbidden().map(|variable| (variable.name.clone(), instead(variable))).collect();
        let flags = flags(recipe);
        if profile == Profile::Jax {
            environment.insert(CC_FLAGS.to_owned(), cc_flags(&flags));
            forbidden.shift_remove(CC_FLAGS);
        }
        Ok(Self {
            profile,
            target: recipe.target.clone(),
            world_size: launch.world_size,
            stages: recipe.stages(),
            unknown,
            environment,
            per_process: per_process.map(|variable| (variable.name.clone(), variable.meaning.clone())).collect(),
            forbidden,
            flags,
        })
    }

    /// Sentences on the processes and on what compiles for them.
    pub(super) fn said(&self) -> Vec<String> {
        let mut lines = self.processes();
        if self.profile == Profile::Jax {
            let about = [
                "Neuron's plugin for JAX compiles what JAX hands it, functions of the bundle among it, and reads the flags for that",
                "from NEURON_CC_FLAGS: here the variable is the only way to give them. It compiles once more what `halite neuron",
                "compile` made and keeps a cache of its own, so that the store of Halite has no part in it. Never run on a device.",
            ];
            lines.extend(about.map(str::to_owned));
        }
        lines
    }

    /// Sentences on the processes.
    fn processes(&self) -> Vec<String> {
        let count = if self.world_size == 1 { "one process" } else { "all processes" };
        let stages = self.stages;
        vec![match self.world_size {
            world if stages > 1 => format!(
                "Programs were compiled for {stages} stages of {} replicas on `{}`: {count} run them.",
                world / stages,
                self.target
            ),
            1 => format!("A program was compiled for one replica on `{}`: {count} runs it.", self.target),
            world => format!("A program was compiled for {world} replicas on `{}`: {count} run it.", self.target),
        }]
    }
}
