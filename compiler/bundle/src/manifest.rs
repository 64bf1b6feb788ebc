//! The manifest: the contents of a bundle, and how to run them.

mod json;
pub(crate) mod lines;

use crate::estimate::{Estimate, Fit};
use crate::{Action, Buffer, Computed, ModuleRole, Transfer};
use halite_recipe::{ConfigValue, Precision, Recipe, RoundingMode, StochasticRounding};
use halite_tensor::{DType, Mesh, Sharding};
use indexmap::IndexMap;
use json::ManifestJson;
use serde::{Deserialize, Serialize};

/// The manifest format this build reads and writes.
pub const MANIFEST_VERSION: u32 = 4;

/// The description of a bundle, `manifest.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "ManifestJson", into = "ManifestJson")]
pub struct Manifest {
    /// Format version.
    pub version: u32,
    /// The model and its resolved configuration.
    pub model: ModelInfo,
    /// The recipe with every default filled in.
    pub recipe: Recipe,
    /// The ranks of a stage, which run each of its modules together, rank `r` as replica `r`; without axes, one rank. Each stage of a
    /// pipeline has ranks of its own.
    pub mesh: Mesh,
    /// Everything that lives between steps or is fed to one, once each.
    pub buffers: Vec<Buffer>,
    /// The compiled modules.
    pub modules: Vec<ModuleEntry>,
    /// The actions of the ranks in an update, in order, one list for each stage: one list where there is no pipeline, none where the
    /// bundle makes no updates. Each call reads the buffers as the one before on its stage left them.
    pub schedule: Vec<Vec<Action>>,
    /// The same for each role that is no part of an update, on one micro-batch, where several stages do it together; otherwise its module is
    /// called.
    pub roles: IndexMap<ModuleRole, Vec<Vec<Action>>>,
    /// The values that stages send to one another.
    pub transfers: Vec<Transfer>,
    /// How narrowing rounds in all modules.
    pub rounding: RoundingChoice,
    /// Variables of the environment in which the modules run: those that the target pins, then the others of the recipe.
    pub environment: IndexMap<String, String>,
    /// Flags of the target's compiler as `--name=value`: those that are known in a stable order, then the others.
    pub flags: Vec<String>,
    /// How the modules are started; `None` for targets whose programs Halite or an embedder starts.
    pub launch: Option<Launch>,
    /// The platform that a PJRT plugin reports, in whatever case, on which the modules run as they were compiled, kernels
    /// included; `None` where they call no kernels.
    pub platform: Option<String>,
    /// Figures that a reader wants before running anything.
    pub statistics: Statistics,
}

impl Manifest {
    /// The number of stages of its pipeline, 1 where there is none. Each has ranks of its own.
    pub fn num_stages(&self) -> usize {
        self.modules.iter().map(|module| module.stage + 1).max().unwrap_or(1)
    }

    /// The lists of the stages: those of an update, then those of each other role that several stages do together.
    pub fn lists(&self) -> impl Iterator<Item = &Vec<Vec<Action>>> {
        std::iter::once(&self.schedule).chain(self.roles.values())
    }

    /// The ranks of all stages.
    pub fn num_ranks(&self) -> usize {
        self.mesh.num_ranks() * self.num_stages()
    }

    /// The buffers that a saved state holds, in order.
    pub fn saved(&self) -> impl Iterator<Item = &Buffer> + Clone {
        self.buffers.iter().filter(|buffer| buffer.is_saved())
    }

    /// The module that is furthest from fitting, of equals the first, since the training step comes first: its name, its estimate and
    /// how that compares; `None` where no estimate was compared.
    pub fn furthest_from_fitting(&self) -> Option<(&str, &Estimate, Fit)> {
        let compared = self.modules.iter().filter_map(|module| {
            let estimate = module.estimate.as_ref()?;
            Some((module.name.as_str(), estimate, estimate.fit?))
        });
        let far = |(_, estimate, fit): &(&str, &Estimate, Fit)| (fit.verdict(), estimate.memory.total());
        compared.reduce(|worst, next| if far(&next) > far(&worst) { next } else { worst })
    }
}

/// How the modules of a bundle are started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Processes that run a module together, each on a logical core of its own: the replicas that it was compiled for.
    pub world_size: u32,
    /// Variables that must not be set around them.
    pub forbidden: Vec<String>,
}

/// How narrowing rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundingChoice {
    /// To nearest or stochastically.
    pub mode: RoundingMode,
    /// Where, by what means and from which seed it is done stochastically; `None` when all rounds to nearest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sr: Option<StochasticRounding>,
}

impl RoundingChoice {
    /// How narrowing rounds under a precision.
    pub fn of(precision: &Precision) -> Self {
        let mode = precision.rounding;
        Self { mode, sr: (mode == RoundingMode::Sr).then_some(precision.sr) }
    }
}

/// The model of a bundle.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// SHA-256 of its IR before all passes, without places in texts: the same for every layout that an update takes equal
    /// sequences on.
    pub sha256: String,
    /// Every configuration value.
    pub config: IndexMap<String, ConfigValue>,
}

fn is_first(stage: &usize) -> bool {
    *stage == 0
}

/// One compiled module.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleEntry {
    /// Its name, unique in the bundle.
    pub name: String,
    /// The computation, by name.
    pub role: ModuleRole,
    /// The stage whose ranks run it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub stage: usize,
    /// The file with its HLO, relative to the manifest.
    pub file: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// Entry parameters in order.
    pub inputs: Vec<Port>,
    /// Entry results in order.
    pub outputs: Vec<Port>,
    /// The resources that it is expected to need on one core; `None` for a target without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The decompositions of the kernels that its HLO calls, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decompositions: Vec<Decomposition>,
}

/// A module that means the same as a kernel of the target; custom calls of the kernel name it in the frontend attribute
/// `halite.twin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decomposition {
    /// Its name, unique in the module that calls the kernel.
    pub name: String,
    /// The file with its HLO, relative to the manifest. Its entry takes the operands of the kernel and returns the tuple of
    /// its results.
    pub file: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
}

/// One entry parameter or result of a module.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// The buffer it reads or replaces, or the name of a value that is passed on or only returned.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Sizes of the whole.
    pub shape: Vec<usize>,
    /// Its sharding over the ranks of the mesh, that of the buffer where it is one; `None` where each rank has the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharding: Option<Sharding>,
    /// The role of the value.
    pub role: PortRole,
    /// For a result: the position of the input whose memory it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<usize>,
    /// For an input of whole numbers: those that parts of it have to hold, as far as the model tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<IndexRange>,
}

/// The whole numbers that a part of an input has to hold, such as the ids of an embedding or labels: others have no meaning,
/// and modules take them for ids or labels that they are not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexRange {
    /// The part: the first position along each dimension, and the one after the last.
    pub part: Vec<[usize; 2]>,
    /// The numbers are at least 0 and less than this.
    pub below: u64,
    /// A number that may stand there too: the label that a loss leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<i64>,
    /// The computation, where the model makes the numbers from this input and others. The part is one of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Computed>,
}

/// The role of a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortRole {
    /// A buffer of the bundle.
    Buffer,
    /// A scalar for people.
    Metric,
    /// A value that the model shows.
    Probe,
    /// The gradient by the weight of the same name.
    Gradient,
    /// A value that modules pass on within an update, of one piece of the batch or once: an input reads what an output of this name
    /// made on the same stage, or what a transfer brought there. The shape is that of one rank.
    Value,
}

/// Figures of a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// Elements of all weights of the model.
    pub parameters: u64,
    /// Bytes that all state takes: weights, moments, counters, and the copies that some weights are stored in.
    pub state_bytes: u64,
    /// Tokens predicted in one step.
    pub tokens_per_step: u64,
    /// Floating-point operations of all matrix products of the training step, for one token, those included that are computed again, those
    /// of copies of weights not.
    pub matmul_flops_per_token: u64,
    /// Model FLOPs: those of the products of the forward and the backward that the model asks for, for one token, however often a program
    /// computes them; 0 in bundles that do not say.
    #[serde(default)]
    pub model_flops_per_token: u64,
    /// Floating-point operations of matrix products that a rank does in a second at most, by the documents of the target; `None` where
    /// these do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_flops: Option<u64>,
    /// HLO instructions of the training step as written, those of a callee once, reducers not counted.
    pub hlo_instructions: u64,
}
