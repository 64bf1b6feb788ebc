//! The recipe: what to train and how.

use crate::accumulate::Accumulate;
use crate::checkpoint::CheckpointOptions;
use crate::config::ConfigValue;
use crate::data::DataTable;
use crate::loss_scale::{DynamicLossScale, LossScale};
use crate::metrics::MetricsOptions;
use crate::optimizer::Optimizer;
use crate::parallel::Parallel;
use crate::precision::Precision;
use crate::recompute::Recompute;
use crate::recovery::RecoveryOptions;
use crate::schedule::Schedule;
use crate::schema::{Kind, RECIPE_VERSION};
use crate::target::TargetName;
use crate::{table, words};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

table! {
    /// A training recipe. In TOML, unknown keys are errors; `check` finds those of a recipe that comes otherwise.
    ///
    /// In Rust, it starts from [`Recipe::new`]:
    ///
    /// ```
    /// use halite_recipe::{ModelChoice, Optimizer, PrecisionName, Recipe};
    ///
    /// let recipe = Recipe {
    ///     precision: PrecisionName::Bf16Sr.precision(),
    ///     ..Recipe::new(ModelChoice::new("llama").with("layers", 2), 8, 64, Optimizer::new("adamw", 5e-3).clip_norm(1.0))
    /// };
    /// assert_eq!((recipe.batch, recipe.seq, recipe.train.steps), (Some(8), Some(64), 300));
    /// ```
    #[derive(Clone, PartialEq, Debug)]
    pub struct Recipe {
        /// Format version.
        pub halite: u32 as Kind::Version,
        /// Sequences in one step: the model's `batch`. Left out, the model says it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub batch: Option<usize> as Kind::SIZE = None,
        /// Tokens of one sequence that are predicted: the model's `seq`, by which the batch of a language model is
        /// `s32[batch, seq + 1]`. Left out, the model says it, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub seq: Option<usize> as Kind::SIZE = None,
        /// Steps over a batch whose gradients make one update. Left out, what the sizes leave, see [`sizes`](Recipe::sizes).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub accumulate: Option<Accumulate> = None,
        /// How to handle an update whose gradients are not finite.
        pub nonfinite: Nonfinite = Nonfinite::default(),
        /// Loss scaling, which keeps small gradients within the range of `f16`. Left out, it is dynamic where something is computed in
        /// `f16`, and none otherwise, see [`scale_of_loss`](Recipe::scale_of_loss).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub loss_scale: Option<LossScale> = None,
        /// The model.
        pub model: ModelChoice,
        /// Element types and rounding.
        pub precision: Precision = Precision::default(),
        /// Activations that the backward recomputes instead of saving.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub recompute: Vec<Recompute> = Vec::new(),
        /// The update of the weights.
        pub optimizer: Optimizer,
        /// The learning rate over time.
        pub schedule: Schedule = Schedule::default(),
        /// Defaults of `halite train`.
        pub train: Train = Train::default(),
        /// Training data. Programs do not depend on it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub data: Option<DataTable> = None,
        /// Logging and alarms of a run.
        #[serde(skip_serializing_if = "MetricsOptions::is_default")]
        pub metrics: MetricsOptions = MetricsOptions::default(),
        /// When a run saves its state.
        #[serde(skip_serializing_if = "CheckpointOptions::is_default")]
        pub checkpoint: CheckpointOptions = CheckpointOptions::default(),
        /// Automatic restarts and rollbacks of a run.
        #[serde(skip_serializing_if = "RecoveryOptions::is_default")]
        pub recovery: RecoveryOptions = RecoveryOptions::default(),
        /// Layout over devices; the program of one rank is compiled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub parallel: Option<Parallel> = None,
        /// Target that the HLO is compiled for.
        pub target: TargetName = TargetName::default(),
        /// Which kernels of the target are used.
        #[serde(skip_serializing_if = "Dialect::is_empty")]
        pub dialect: Dialect = Dialect::default(),
        /// How programs are written.
        #[serde(skip_serializing_if = "Emit::is_empty")]
        pub emit: Emit = Emit::default(),
        /// Findings that `halite check` leaves out.
        #[serde(skip_serializing_if = "Check::is_empty")]
        pub check: Check = Check::default(),
        ..
        /// The tables of targets by name, as their targets read them. A recipe may hold those of other targets than its own.
        pub sections: IndexMap<String, toml::Value>,
    }
}

impl Recipe {
    /// A recipe for a model, batches of so many sequences of so many predicted tokens, and an optimizer; all else has its
    /// default. A model without such sizes gets `Recipe { batch: None, seq: None, ..Recipe::new(..) }`.
    pub fn new(model: ModelChoice, batch: usize, seq: usize, optimizer: Optimizer) -> Self {
        Self {
            halite: RECIPE_VERSION,
            batch: Some(batch),
            seq: Some(seq),
            accumulate: None,
            nonfinite: Nonfinite::default(),
            loss_scale: None,
            model,
            precision: Precision::default(),
            recompute: Vec::new(),
            optimizer,
            schedule: Schedule::default(),
            train: Train::default(),
            data: None,
            metrics: MetricsOptions::default(),
            checkpoint: CheckpointOptions::default(),
            recovery: RecoveryOptions::default(),
            parallel: None,
            target: TargetName::default(),
            dialect: Dialect::default(),
            emit: Emit::default(),
            check: Check::default(),
            sections: IndexMap::new(),
        }
    }

    /// The scale of the loss: the one that the recipe states, else the default for its types.
    pub fn scale_of_loss(&self) -> LossScale {
        let default = || {
            if self.precision.uses_f16() { LossScale::Dynamic(DynamicLossScale::default()) } else { LossScale::NONE }
        };
        self.loss_scale.unwrap_or_else(default)
    }

    /// Whether updates whose gradients are not finite leave the state as it is: where the recipe says so, and where the scale of the
    /// loss is dynamic.
    pub fn skips_nonfinite(&self) -> bool {
        self.nonfinite == Nonfinite::Skip || matches!(self.scale_of_loss(), LossScale::Dynamic(_))
    }

    /// Whether an update whose gradients are not finite ends training. `scale` is the scale of the loss that it used where that is
    /// dynamic: training goes on while it can be halved.
    pub fn stops_at(&self, scale: Option<f64>) -> bool {
        let is_least = match self.scale_of_loss() {
            LossScale::Fixed(_) => true,
            LossScale::Dynamic(rule) => scale.is_none_or(|scale| scale <= f64::from(rule.min)),
        };
        self.nonfinite == Nonfinite::Stop && is_least
    }

    /// The recipe with the table of a target.
    ///
    /// # Panics
    /// When TOML cannot hold the table.
    #[must_use]
    pub fn with_section(mut self, name: impl Into<String>, table: &impl Serialize) -> Self {
        let table = toml::Value::try_from(table).expect("a table of numbers, texts, lists and tables");
        self.sections.insert(name.into(), table);
        self
    }

    /// The table of a target; its default where the recipe has none.
    ///
    /// # Errors
    /// When it is no table of type `T`.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        let Some(table) = self.sections.get(name) else { return Ok(T::default()) };
        table.clone().try_into().map_err(|error: toml::de::Error| {
            Diagnostic::error(codes::RECIPE_TYPE, format!("`{name}`: {}", error.message()))
                .key(name)
                .help("write it as the target takes it")
        })
    }
}

table! {
    /// A model with its configuration.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ModelChoice {
        /// A built-in model, or a path to a `.hal` file relative to the recipe.
        pub name: String,
        /// Overrides of the model's configuration.
        pub config: IndexMap<String, ConfigValue> = IndexMap::new(),
    }
}

impl ModelChoice {
    /// A model with its defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), config: IndexMap::new() }
    }

    /// The model with another value of a key of its configuration.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<ConfigValue>) -> Self {
        self.config.insert(key.into(), value.into());
        self
    }
}

table! {
    /// Defaults of `halite train`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Train {
        /// Seed of the initial state, of the order of data, and of dropout. The latter is that of the recipe, whatever `halite train` is
        /// given.
        pub seed: u64 = 0,
        /// Updates to make.
        pub steps: u32 = 300,
        /// Updates between evaluations on what is held out; 0 evaluates at the start and the end only.
        pub eval_every: u32 = 50,
        /// The most batches of one evaluation of a data set.
        pub eval_batches: u32 = 16,
    }
}

table! {
    /// The kernels of the target that are used: those that are trusted, less `off`, and `on`. A kernel that both lists name is on.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Dialect {
        /// Patterns (`*` matches any text) of kernels that are not used; each must match one.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub off: Vec<String> = Vec::new(),
        /// Patterns (`*` matches any text) of kernels that are used, trusted or not; each must match one.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub on: Vec<String> = Vec::new(),
    }
}

impl Dialect {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.off.is_empty() && self.on.is_empty()
    }
}

table! {
    /// The findings that `halite check` leaves out.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Check {
        /// Findings that are meant so.
        pub waive: Vec<Waiver> = Vec::new(),
    }
}

impl Check {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.waive.is_empty()
    }
}

table! {
    /// How programs are written.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Emit {
        /// How calls of the model's functions are emitted. Left out, the target decides.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub calls: Option<Calls> = None,
    }
}

impl Emit {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.calls.is_none()
    }
}

words! {
    /// The form of calls of the model's functions in HLO.
    #[derive(Default)]
    pub enum Calls {
        /// They stay calls, also where the compiler that reads the HLO would inline them.
        Keep = "keep",
        /// They are written as calls, which that compiler may inline.
        Compiler = "compiler",
        /// The callee is written in their place.
        #[default]
        Inline = "inline",
    }
}

words! {
    /// The handling of an update whose gradients are not finite.
    #[derive(Default)]
    pub enum Nonfinite {
        /// Training stops.
        #[default]
        Stop = "stop",
        /// The update is skipped: the state stays as it is.
        Skip = "skip",
    }
}

words! {
    /// A kind of findings about a model that a recipe can waive.
    pub enum Waiver {
        /// Weights at the end of residual branches that start so large that the stream grows with depth.
        ResidualInit = "residual-init",
        /// Weights that never learn.
        Frozen = "frozen",
        /// Inputs that reach nothing.
        Unread = "unread",
        /// Outputs and losses of which the analysis of causality cannot tell. A leak that it shows is an error all the same.
        Causality = "causality",
    }
}
