//! The targets of AWS Neuron: `trn1`, `trn1n`, `trn2`, `trn3` and `inf2`.
//!
//! - [`tables`] hold what is known of hardware, compiler and runtime, each fact with its source;
//! - [`legality`] holds HLO, whoever made it, to the rules of a generation;
//! - [`memory`] says what a module needs on a core, and whether it fits;
//! - [`kernels`] are those that `neuronx-cc` knows by name;
//! - [`settings`] are flags, environment and launch that follow from a recipe, and [`Neuron`] its table there;
//! - [`cluster`] writes the files with which schedulers start that launch on many nodes;
//! - `neuronx` drives `neuronx-cc`, with a store of what it made (feature `neuronx-cc`).

mod advice;
mod allow;
pub mod cluster;
mod findings;
mod fit;
mod forms;
mod generation;
pub mod kernels;
pub mod legality;
mod machine;
pub mod memory;
#[cfg(feature = "neuronx-cc")]
pub mod neuronx;
pub mod report;
mod section;
pub mod settings;
mod shell;
mod table;
pub mod tables;
mod target;
#[cfg(test)]
mod testing;

pub use allow::refuse_allowed;
pub use findings::{profile, untested};
pub use fit::{MEMORY_MARGIN, fit};
pub use forms::unknown_version;
pub use generation::Generation;
pub use section::SECTION;
pub use table::{Emit, Neuron};
pub use tables::Tables;
pub use target::NeuronTarget;
