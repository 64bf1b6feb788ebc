//! Programs of others as models.
//!
//! A [`Program`] is the forward of a model that another framework made, in HLO, with the [roles](Signature) of what it takes and gives. It
//! becomes what a text of the model language becomes: a module in phase `built`, which every recipe compiles. Nothing in it is taken
//! on trust: an instruction that the IR has no op for is refused by its name and line.

mod closed;
mod float;
mod helpers;
mod layers;
mod loops;
mod model;
mod numbers;
mod program;
mod roles;
mod rows;
mod signature;
mod stacks;

pub use program::Program;
pub use signature::{Input, InputRole, Output, OutputRole, Signature};
pub use stacks::Stack;
