//! Halite: from a model and a recipe to a verified training step in HLO.
//!
//! # Compiling
//!
//! A [`Session`] knows composites, passes, targets and kernels; a [`source::Source`] is a recipe with its model; a [`Bundle`] is
//! what compiling makes of it: HLO modules as bytes, and a [manifest](bundle::Manifest) that says what they take and give.
//!
//! ```
//! use halite::Session;
//! use halite::bundle::{ModuleRole, convert, init};
//! use halite::compile::CompileOptions;
//!
//! # fn main() -> Result<(), halite::support::Diagnostics> {
//! let mut session = Session::new();
//! let source = session.load("tiny", &["layers=1".to_owned()])?;
//! let bundle = session.compile(&source, &CompileOptions::default())?.bundle;
//!
//! let step = bundle.module_with_role(&ModuleRole::TRAIN_STEP)?;
//! let hlo: &[u8] = bundle.hlo(step)?;
//! let in_place = step.outputs.iter().filter(|output| output.alias.is_some()).count();
//! let state = convert::to_stored(&bundle.manifest, init::initial_state(&bundle, 7)?)?;
//! assert_eq!(in_place, state.len());
//! # assert!(!hlo.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! Sessions are independent, can be shared by as many threads as there are, and give the same bytes in each; only a PJRT
//! plugin, once opened, stays loaded for the process. No function of this library prints or ends the process. What there is
//! to say comes back as [`Diagnostic`](support::Diagnostic)s, which the crate `halite-report` turns into text.
//!
//! # Models and recipes in Rust
//!
//! [`Session::model`] starts a model with the names and checks of the model language ([`model`]); recipes are values too. The
//! HLO of a model is the same byte for byte, however it was written, but for the positions in its metadata, which name lines
//! of Rust here and lines of text there; [`LowerOptions::without_positions`](ir::LowerOptions) leaves them out.
//!
//! ```
//! use halite::compile::CompileOptions;
//! use halite::model::Init;
//! use halite::recipe::{ModelChoice, Optimizer, Recipe};
//! use halite::tensor::DType;
//!
//! # fn main() -> Result<(), halite::support::Diagnostics> {
//! let (batch, seq, vocab, hidden) = (2, 8, 16, 4);
//! let recipe = Recipe::new(ModelChoice::new("bigram"), batch, seq, Optimizer::new("adamw", 1e-3));
//! let mut session = halite::Session::new();
//! let model = {
//!     let m = session.model("bigram", &recipe);
//!     let tokens = m.batch("tokens", DType::S32, [batch, seq + 1]);
//!     let table = m.param("table", [vocab, hidden], Init::Normal { std: 0.02 });
//!     let x = m.call("embedding", [tokens.slice((.., ..seq)), table]).one();
//!     let head = m.param("head", [vocab, hidden], Init::Normal { std: 0.02 });
//!     let logits = m.call("linear", [x, head]).one();
//!     m.output("logits", logits);
//!     let [loss, count] = m.call("cross_entropy", [logits, tokens.slice((.., 1..))]).results();
//!     m.finish(loss, count)?
//! };
//! let source = session.source(recipe, model)?;
//! let bundle = session.compile(&source, &CompileOptions::default())?.bundle;
//! assert_eq!(bundle.manifest.statistics.parameters, 2 * 16 * 4);
//! # Ok(())
//! # }
//! ```
//!
//! # Training
//!
//! The crate `halite-train` needs a bundle and no compiler: its `TrainStep` holds a compiled step and its state on a device of any
//! executor, such as a PJRT plugin; its `train` is the loop around it that `halite train` runs.
//! [`Session::load`] reads the `config.json` of a checkpoint, and `halite::bundle::shards` its weights.
//!
//! # Listening and stopping
//!
//! ```
//! use halite::compile::CompileOptions;
//! use halite::passes::{PassReport, Progress, Watch};
//! use halite::support::{CancelToken, codes};
//! use std::sync::Arc;
//!
//! /// Stops compiling after the first pass, in whatever thread it ran.
//! struct FirstOnly(CancelToken);
//!
//! impl Progress for FirstOnly {
//!     fn finished(&self, _module: &str, _report: &PassReport) {
//!         self.0.cancel();
//!     }
//! }
//!
//! # fn main() -> Result<(), halite::support::Diagnostics> {
//! let mut session = halite::Session::new();
//! let source = session.load("tiny", &[])?;
//! let cancel = CancelToken::default();
//! let mut options = CompileOptions::default();
//! options.runner.watch = Watch { progress: Some(Arc::new(FirstOnly(cancel.clone()))), cancel };
//! let errors = session.compile(&source, &options).unwrap_err();
//! assert_eq!(errors[0].code(), codes::CANCELLED);
//! # Ok(())
//! # }
//! ```
//!
//! Spans of `tracing` lie around compiling, each module and each pass, and around loading and running steps.
//!
//! # Extending
//!
//! Composites, passes, targets, kernels and roles of modules of your own are registered in the [`Session`]; `halite-tests` holds them to
//! golden files as Halite's own, and `halite-cli` gives a program the commands of `halite` with them. The crates that the traits
//! come from are [`ir`], [`passes`] and [`target`].

pub mod compile;
mod definition;
pub mod dump;
pub mod export;
mod flops;
mod given;
mod hugging_face;
pub mod inspect;
mod libraries;
pub mod lint;
pub mod opt;
pub mod pipelines;
pub mod program_file;
pub mod roles;
mod scale;
mod session;
pub mod source;
mod unread;

/// Models in the model language and in Rust, and the core of builders in other languages.
pub mod model {
    pub use halite_lang::build::{
        Argument, BinaryOp, Call, Caller, Comparison, Init, ModelBuilder, SizeFactor, Subscript, Subscripts, Tensor,
        by_fan, core,
    };
    pub use halite_lang::{Elaborated, LibraryName, LibraryRef, Options, Override, Texts, elaborate, elaborate_texts};
    pub use halite_recipe::ConfigValue;
}

pub use halite_bundle::Bundle;
pub use session::Session;

pub use {
    halite_analysis as analysis, halite_bundle as bundle, halite_hlo as hlo, halite_import as import, halite_ir as ir,
    halite_optim as optim, halite_passes as passes, halite_recipe as recipe, halite_support as support,
    halite_target as target, halite_tensor as tensor,
};
