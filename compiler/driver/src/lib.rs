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
pub mod dump;
pub mod execute;
pub mod files;
mod flops;
pub mod init;
pub mod inspect;
pub mod lint;
pub mod neuron;
pub mod numerics;
pub mod opt;
mod packed;
pub mod pipelines;
mod random;
pub mod recipe_file;
pub mod render;
pub mod session;
pub mod source;
pub mod tensors;
pub mod train;
pub mod verify;

pub use bundle::Bundle;
pub use session::Session;
