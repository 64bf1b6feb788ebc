//! The self-test of Halite on Neuron: what the tables presume, asked of a compiler and a device.
//!
//! A [`Check`] is a file below `checks/`: programs of our own IR with inputs, what each fact of the tables has to do with them, and how
//! far results may be from those of the interpreter, which is the oracle. [`prepare`] makes all of that and needs nothing of Neuron;
//! [`Prepared::run`] compiles the programs with `neuronx-cc`, runs them in processes of their own ([`work`]), compares, and gives a
//! [`Report`]. A check that fails, hangs or ends its process leaves the others alone, and one that cannot be made is not run and says why.
//!
//! [`Together`] is asked by the processes of a launch themselves: whether all ranks, on all nodes, hear all.
//!
//! Adding a check is a file below `checks/` and its line in `checks.rs`.

mod bench;
mod blob;
mod check;
mod checks;
mod compare;
mod compile;
mod execute;
mod explain;
mod fact;
mod job;
mod place;
mod prepare;
mod program;
mod report;
mod run;
mod scrub;
mod together;
mod worker;

pub use bench::Bench;
pub use check::{Case, Check, Needs, Parts, Probe, Told, Within};
pub use checks::{CHECKS, named};
pub use explain::{Explained, explain};
pub use fact::{Fact, facts};
pub use place::{Launcher, Limits, Place, Runtime};
pub use prepare::{Prepared, prepare};
pub use program::Program;
pub use report::{CheckReport, FactReport, Failure, Outcome, Report, STATED, Verdict};
pub use run::Observer;
pub use together::Together;
pub use worker::work;
