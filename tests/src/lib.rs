//! The tests of Halite as a whole, and what they share.
//!
//! [`kit`] runs the golden files. Models of what passes define, which share no code with them, are in [`defined`]. The rest serves
//! the laws: [`random`] modules, [`mutants`], [`arithmetic_masks`], [`models`] in Rust, [`compiled`] bundles, [`layouts`] of ranks.

mod accumulation;
mod alone;
pub mod arithmetic_masks;
pub mod command_line;
pub mod compiled;
pub mod covering;
pub mod defined;
mod dropout;
mod finite;
pub mod forgotten_sum;
mod golden;
pub mod joint;
pub mod known_differences;
pub mod layouts;
pub mod legality;
mod loss_scale;
pub mod many_ranks;
pub mod meshes;
pub mod models;
pub mod mutants;
pub mod optimized;
mod optimizer;
pub mod order;
pub mod parallel;
mod partitioned;
pub mod pipelines;
pub mod ports;
pub mod product;
pub mod quick;
pub mod random;
pub mod renamed;
pub mod scaled;
pub mod standin_kernels;
pub mod standin_nrt;
pub mod stepping;
pub mod structure;
pub mod texts;
pub mod tolerances;
pub mod trained;

pub use alone::{alone, on_own_code};
pub use golden::kit;
