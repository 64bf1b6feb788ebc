//! A stand-in for libnrt, the runtime of AWS Neuron, for tests on machines without a device. It is not the vendor's, and runs nothing
//! of theirs: its programs are [`StandInNeff`]s, files of our own, which nothing real takes either.
//!
//! The library has the functions that Halite calls, declared as in the public headers, and is stricter than the real one is known to
//! be: handles that are none, tensors that a program does not have, sizes, memory that is shared without being aliased or read before
//! it is written, cores, ranks and versions that do not fit are refused, each with the status that the header has for it. A program
//! runs on the PJRT plugin for CPUs. One of several ranks is loaded by as many processes, which meet at `NEURON_RT_ROOT_COMM_ID`: the
//! first one gathers the inputs of all, runs the program on as many virtual devices and gives each its outputs. Variables have it
//! misbehave:
//!
//! | variable | effect |
//! |---|---|
//! | `HALITE_STANDIN_NRT_FAIL` | `FUNCTION:STATUS` or `FUNCTION:STATUS@N`: each call of the function, or the Nth, answers so |
//! | `HALITE_STANDIN_NRT_HANG` | `FUNCTION@N`: the Nth call does not come back |
//! | `HALITE_STANDIN_NRT_DIE` | `FUNCTION@N`: the Nth call kills the process |
//! | `HALITE_STANDIN_NRT_NAN` | `N` or `N:STATUS`: the Nth run gives NaN where its results replace no input, and answers so |
//! | `HALITE_STANDIN_NRT_VERSION` | the major version that it states, 2 without it |
//! | `HALITE_STANDIN_NRT_TARGET` | the hardware that it is, `trn1` without it |
//! | `HALITE_STANDIN_NRT_CORES` | the cores that the process has, 1 without it |
//! | `HALITE_STANDIN_NRT_TIMEOUT` | the seconds for which ranks wait for one another, 60 without it |
//! | `HALITE_STANDIN_NRT_MEMORY` | a folder where results are kept by program and inputs, and looked up |
//! | `HALITE_STANDIN_NRT_LOADED` | a folder where is noted what was loaded, which the defect `all-gather-again` needs |
//! | `HALITE_STANDIN_NRT_DEFECT` | of [`DEFECTS`], those that its programs then have, with commas between them |
//! | `NEURON_RT_STOCHASTIC_ROUNDING_EN` | `1`: conversions from `f32` to `bf16` round at random, as the real one's do |
//! | `HALITE_STANDIN_NRT_XLA_FLAGS` | what XLA is told by `XLA_FLAGS`, which Halite refuses around a device |
//! | `HALITE_STANDIN_NRT_JOURNAL` | a file that gets a line at `nrt_close`: what is still alive, and what was done wrong |

mod container;
mod defects;
mod execute;
mod exports;
mod memory;
mod once;
mod orders;
mod ranks;
mod state;
mod statuses;

pub use container::{Named, StandInNeff};
pub use defects::DEFECTS;
