//! The effect of precision on training: runs of one model under several recipes, from one state, on one order of data, compared with a
//! reference.
//!
//! The state of a seed is drawn in `f64` and rounded to the slots of each recipe. The gradient error of a run is measured
//! at the weights of that run, so that it says what the arithmetic of one step does, apart from where training has gone.
//! A run whose loss is no longer finite ends there; that is a result.

mod gradients;
mod recipes;
mod run;

pub use gradients::layer_of;
pub use recipes::load_recipe;
pub use run::{Comparison, NumericsOptions, Observer};
