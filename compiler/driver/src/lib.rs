//! Halite: from a model and a recipe to a verified training step in HLO, and from there to trained weights.
//!
//! A [`Session`] compiles; a [`Bundle`] is what it makes; [`train`] and [`execute`] run bundles on an
//! executor of `halite-runtime`. No function of this library prints or ends the process: what there is to say comes back
//! as [`Diagnostic`](halite_support::Diagnostic)s, which [`render`] turns into text, and through [`train::Observer`].

pub mod bundle;
mod chart;
pub mod compile;
pub mod content;
pub mod convert;
mod definition;
pub mod dump;
pub mod estimate;
pub mod execute;
pub mod files;
mod flops;
pub mod hlo_check;
pub mod hugging_face;
pub mod init;
pub mod inspect;
pub mod legality;
pub mod lint;
pub mod neuron;
pub mod neuronx;
pub mod numerics;
pub mod opt;
mod packed;
pub mod pipelines;
mod random;
pub mod recipe_file;
pub mod render;
pub mod session;
pub mod shards;
pub mod source;
pub mod tensors;
pub mod train;
pub mod units;
pub mod verify;

/// Models in the model language and in Rust.
pub mod model {
    pub use halite_lang::build::{Argument, Call, Init, ModelBuilder, Subscript, Subscripts, Tensor};
    pub use halite_lang::{ConfigValue, Elaborated, Options, Override, elaborate};
}

pub use bundle::Bundle;
pub use session::Session;
pub use train::TrainStep;
