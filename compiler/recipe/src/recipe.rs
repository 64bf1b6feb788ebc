//! The recipe: what to train and how.

use crate::config::ConfigValue;
use crate::precision::Precision;
use crate::target::TargetName;
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The recipe format this build reads and writes.
pub const RECIPE_VERSION: u32 = 1;

/// A training recipe. In TOML, unknown keys are errors; [`check`](crate::check) finds those of a recipe that comes otherwise.
///
/// In Rust, it starts from [`Recipe::new`]:
///
/// ```
/// use halite_recipe::{AdamW, ModelChoice, PrecisionName, Recipe};
///
/// let recipe = Recipe {
///     precision: PrecisionName::Bf16Sr.precision(),
///     ..Recipe::new(ModelChoice::new("llama").with("layers", 2), 8, 64, AdamW { clip_norm: Some(1.0), ..AdamW::new(5e-3) })
/// };
/// assert_eq!((recipe.batch, recipe.seq, recipe.train.steps), (Some(8), Some(64), 300));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recipe {
    /// Format version.
    pub halite: u32,
    /// Sequences in one step: the model's `batch`. Left out, the model says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// Tokens of one sequence that are predicted: the model's `seq`, by which the batch of a language model is
    /// `s32[batch, seq + 1]`. Left out, the model says it, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<usize>,
    /// The model.
    pub model: ModelChoice,
    /// Element types and rounding.
    #[serde(default)]
    pub precision: Precision,
    /// The update rule.
    pub optimizer: Optimizer,
    /// The learning rate over time.
    #[serde(default)]
    pub schedule: Schedule,
    /// Defaults of `halite train`.
    #[serde(default)]
    pub train: Train,
    /// Layout over devices. Recorded in the manifest; a single device is compiled for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// What the HLO is for.
    #[serde(default)]
    pub target: TargetName,
    /// Which kernels of the target are used.
    #[serde(default, skip_serializing_if = "Dialect::is_empty")]
    pub dialect: Dialect,
    /// What `halite check` leaves out.
    #[serde(default, skip_serializing_if = "Check::is_empty")]
    pub check: Check,
    /// The tables of targets by name, as their targets read them. A recipe may hold those of other targets than its own.
    #[serde(flatten)]
    pub sections: IndexMap<String, toml::Value>,
}

impl Recipe {
    /// A recipe for a model, batches of so many sequences of so many predicted tokens, and an update rule; all else has its
    /// default. A model without such sizes gets `Recipe { batch: None, seq: None, ..Recipe::new(..) }`.
    pub fn new(model: ModelChoice, batch: usize, seq: usize, optimizer: impl Into<Optimizer>) -> Self {
        Self {
            halite: RECIPE_VERSION,
            batch: Some(batch),
            seq: Some(seq),
            model,
            precision: Precision::default(),
            optimizer: optimizer.into(),
            schedule: Schedule::default(),
            train: Train::default(),
            parallel: None,
            target: TargetName::default(),
            dialect: Dialect::default(),
            check: Check::default(),
            sections: IndexMap::new(),
        }
    }

    /// The same with the table of a target.
    ///
    /// # Panics
    /// When the table holds what TOML cannot.
    #[must_use]
    pub fn with_section(mut self, name: impl Into<String>, table: &impl Serialize) -> Self {
        let table = toml::Value::try_from(table).expect("a table of numbers, texts, lists and tables");
        self.sections.insert(name.into(), table);
        self
    }

    /// The table of a target; its default where the recipe has none.
    ///
    /// # Errors
    /// When it is not such a table.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        let Some(table) = self.sections.get(name) else { return Ok(T::default()) };
        table.clone().try_into().map_err(|error: toml::de::Error| {
            Diagnostic::error(codes::RECIPE_TYPE, format!("`{name}`: {}", error.message()))
                .key(name)
                .help("write it as the target takes it")
        })
    }
}

/// Which model, with which configuration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// A built-in model, or a path to a `.hal` file relative to the recipe.
    pub name: String,
    /// Overrides of the model's configuration.
    #[serde(default)]
    pub config: IndexMap<String, ConfigValue>,
}

impl ModelChoice {
    /// A model with its defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), config: IndexMap::new() }
    }

    /// The same with another value of a key of its configuration.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<ConfigValue>) -> Self {
        self.config.insert(key.into(), value.into());
        self
    }
}

/// The update rule: one table, `[optimizer.adamw]` or `[optimizer.sgd]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// AdamW (Loshchilov and Hutter 2019).
    AdamW(AdamW),
    /// Stochastic gradient descent with momentum.
    Sgd(Sgd),
}

impl From<AdamW> for Optimizer {
    fn from(rule: AdamW) -> Self {
        Self::AdamW(rule)
    }
}

impl From<Sgd> for Optimizer {
    fn from(rule: Sgd) -> Self {
        Self::Sgd(rule)
    }
}

/// AdamW: decoupled weight decay, bias-corrected moments, `eps` outside the root.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdamW {
    /// Peak learning rate.
    pub lr: f64,
    /// Decay rates of the first and second moment.
    #[serde(default = "default_betas")]
    pub betas: [f64; 2],
    /// Added to the root of the second moment.
    #[serde(default = "default_eps")]
    pub eps: f64,
    /// Weight decay, multiplied by the learning rate.
    #[serde(default)]
    pub weight_decay: f64,
    /// Patterns (`*` matches any text) of parameters without decay; each must match one.
    #[serde(default)]
    pub no_decay: Vec<String>,
    /// Largest global norm of the gradients; left out, gradients are not clipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_norm: Option<f64>,
}

impl AdamW {
    /// The rule at this peak learning rate, without decay and clipping.
    pub fn new(lr: f64) -> Self {
        let (betas, eps) = (default_betas(), default_eps());
        Self { lr, betas, eps, weight_decay: 0.0, no_decay: Vec::new(), clip_norm: None }
    }
}

impl Sgd {
    /// The rule at this peak learning rate, without momentum, decay and clipping.
    pub fn new(lr: f64) -> Self {
        Self { lr, momentum: 0.0, weight_decay: 0.0, no_decay: Vec::new(), clip_norm: None }
    }
}

/// `v' = momentum * v + g; w' = w - lr * v'`, with decay added to the gradient's step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sgd {
    /// Peak learning rate.
    pub lr: f64,
    /// Decay rate of the momentum; 0 keeps no state.
    #[serde(default)]
    pub momentum: f64,
    /// Weight decay, multiplied by the learning rate.
    #[serde(default)]
    pub weight_decay: f64,
    /// Patterns (`*` matches any text) of parameters without decay; each must match one.
    #[serde(default)]
    pub no_decay: Vec<String>,
    /// Largest global norm of the gradients; left out, gradients are not clipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_norm: Option<f64>,
}

fn default_betas() -> [f64; 2] {
    [0.9, 0.95]
}

fn default_eps() -> f64 {
    1e-8
}

/// Linear warm-up, then a cosine down to a floor, then the floor.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Updates until the peak; update k of them uses `peak * k / warmup`.
    #[serde(default)]
    pub warmup: u32,
    /// The update at which the floor is reached; 0 keeps the peak for ever.
    #[serde(default)]
    pub steps: u32,
    /// The floor as a share of the peak.
    #[serde(default)]
    pub floor: f64,
}

/// Defaults of `halite train`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Seed of the initial state and of the order of data.
    #[serde(default)]
    pub seed: u64,
    /// Updates to make.
    #[serde(default = "default_train_steps")]
    pub steps: u32,
}

fn default_train_steps() -> u32 {
    300
}

impl Default for Train {
    fn default() -> Self {
        Self { seed: 0, steps: default_train_steps() }
    }
}

/// Layout over devices. By default, that of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parallel {
    /// Degree of tensor parallelism.
    pub tensor: u32,
    /// Stages of the pipeline.
    pub pipeline: u32,
    /// Whether activations between blocks are sharded along the sequence.
    pub sequence: bool,
    /// Whether optimizer state is sharded over data-parallel ranks.
    pub zero1: bool,
    /// Sequences in one update over all ranks and micro-batches; left out, those of one step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_batch: Option<u32>,
}

impl Default for Parallel {
    fn default() -> Self {
        Self { tensor: 1, pipeline: 1, sequence: false, zero1: false, global_batch: None }
    }
}

/// Which kernels of the target are used: those that are trusted, less `off`, and `on`. What both lists name is on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// Patterns (`*` matches any text) of kernels that are not used; each must match one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<String>,
    /// Patterns (`*` matches any text) of kernels that are used, trusted or not; each must match one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
}

impl Dialect {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.off.is_empty() && self.on.is_empty()
    }
}

/// What `halite check` leaves out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Check {
    /// Findings that are meant so.
    pub waive: Vec<Waiver>,
}

impl Check {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.waive.is_empty()
    }
}

/// A kind of findings about a model that a recipe can waive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waiver {
    /// Weights at the end of residual branches that start so large that the stream grows with depth.
    ResidualInit,
    /// Weights that never learn.
    Frozen,
    /// Inputs that reach nothing.
    Unread,
    /// Outputs and losses of which the analysis of causality cannot tell. A leak that it shows is an error all the same.
    Causality,
}

impl Waiver {
    /// All kinds.
    pub const ALL: [Waiver; 4] = [Waiver::ResidualInit, Waiver::Frozen, Waiver::Unread, Waiver::Causality];

    /// The word in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Waiver::ResidualInit => "residual-init",
            Waiver::Frozen => "frozen",
            Waiver::Unread => "unread",
            Waiver::Causality => "causality",
        }
    }
}
