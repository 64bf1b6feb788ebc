//! The time of a module and of an update, by arithmetic over their work and a machine.
//!
//! 1. A product takes what its operations take at the peak rate of its type, on whole tiles.
//! 2. All other arithmetic takes what its elements take on the engines that do it, or what reading parameters and writing results does.
//!    That values between stay on the chip is presumed: a compiler that spills takes longer.
//! 3. A collective takes what its bytes take on each kind of link that it crosses, and a latency (`wire`).
//! 4. Collectives that are written ahead of time are hidden behind what else a module does, as far as that lasts.
//! 5. An execution takes a fixed time beside all that.
//! 6. The lists of the stages of a pipeline are played with these times (`step`).
//!
//! Rates are peaks times an [`Efficiency`], the only numbers that are fitted to measurements.

mod machine;
mod module;
mod play;
mod step;
mod wire;

pub use machine::{Efficiency, Instance, Link, Machine, Peak, Price, PriceKind};
pub use module::{ModuleTime, module_time};
pub use step::{StepTime, step_time};
pub use wire::{Sent, sent};

#[cfg(test)]
mod testing;
