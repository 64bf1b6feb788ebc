//! HLO of anyone as our IR, so that analyses of the IR read it.
//!
//! [`lift`] is the inverse of lowering for what the IR has an op for. What it has none for, such as a loop, becomes the call of a
//! kernel that nobody looks into: its results are the same on ranks that give it the same. [`Claims`] are the shardings that the HLO
//! states for its parameters and results, in terms of a mesh.
//!
//! The HLO is the program of one rank, as it is after partitioning: its shapes are those of shards, and its collectives are instructions.

mod aliases;
mod arrays;
mod claims;
mod composites;
mod groups;
mod lifted;
mod location;
mod module;
mod opaque;
mod ops;
mod parameters;
mod partitioned;
mod ranks;
mod site;
mod tiles;

pub use claims::{Claims, are_claimed, claims};
pub use composites::{is_own, own_composites};
pub use lifted::Lifted;
pub use module::lift;
pub use opaque::stated_name;
pub use partitioned::require_partitioned;
