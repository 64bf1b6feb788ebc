//! The interface between the compiler and its targets.
//!
//! A [`Target`] decides how HLO is written, which kernels are offered and which modules are refused. It states what a module needs and
//! the settings of the processes that run it. Compiling asks the target, and never which one it is. [`Targets`] are those that a
//! session knows; one from outside is registered like the built-in ones.

mod check;
mod policy_need;
mod settings;
mod target;
mod targets;
mod vocabulary;

pub use check::{ModuleCheck, Repeated, join};
pub use halite_estimate as estimate;
pub use halite_estimate::{Basis, Provenance};
pub use halite_hlo::{Origin, origin};
pub use halite_passes::RankSource;
pub use policy_need::PolicyNeed;
pub use settings::RunSettings;
pub use target::{Target, Variant};
pub use targets::Targets;
pub use vocabulary::Vocabulary;
