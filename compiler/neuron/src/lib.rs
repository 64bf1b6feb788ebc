//! What the Neuron compiler makes of HLO, whoever made it.
//!
//! - [`legality`] holds a module to the rules of a target.
//! - [`estimate`] says what it needs: memory of a core by liveness, instructions of the machine by tiles.

pub mod estimate;
pub mod legality;
