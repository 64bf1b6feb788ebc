//! What a target of the compiler is.
//!
//! A [`Target`] is what programs are compiled for: how their HLO is written, which kernels it offers, what it refuses, what
//! a module needs, what surrounds its processes. Whoever compiles asks the target, and never which one it is. [`Targets`]
//! are those that a session knows; one from outside is registered like the built-in ones.

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
