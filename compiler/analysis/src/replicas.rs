//! The analysis of replicas: what the ranks of a mesh hold of each value of the program of one rank, by abstract interpretation.
//!
//! It follows the placement of each value along each sub-axis of the mesh: the same on all ranks, a shard of a dimension, a term of a
//! sum, or unknown. It reads the instructions alone, with no plan: a digit of a dimension is pushed through the dimensions of an op as
//! one rank sees them. Where these leave open which of two dimensions is sharded, as when one of size 1 is split off, all readings are
//! kept until an op rules one out. Numbers that depend on the rank are computed for all ranks at once, so that slices and masks by
//! coordinates are recognized.

mod bonds;
mod counted;
mod digits;
mod exchange;
mod exchanged;
mod factors;
mod finding;
mod free;
mod groups;
mod held;
mod indexed;
mod joined;
mod mask;
mod movement;
mod moves;
mod number;
mod numbers;
mod per_rank;
mod permute;
mod question;
mod shown;
mod slices;
mod state;
mod transfer;
mod twice;
mod unwritten;
mod walk;
mod witness;

pub use exchanged::{ReplicaSuspicion, held_elsewhere};
pub use finding::ReplicaFinding;
pub use moves::Moves;
pub use shown::unlike_ranks;
pub use walk::replicas;
pub use witness::{ReplicaWitness, unlike_whole};
