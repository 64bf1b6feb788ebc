//! Running HLO.
//!
//! An [`Executor`] compiles the bytes of a serialized `HloModuleProto` into an [`Executable`] and holds arrays on its
//! devices as [`Buffer`]s. `Pjrt` implements it by a PJRT plugin that is opened at run time, so that building this crate
//! needs no XLA; `find_plugin` says where the plugin is, `install` puts it there. Both come with the feature
//! `pjrt`, which is on by default; without it there are the traits. The crate `halite-xla-rs` implements them on the crate `xla`,
//! for programs that use that crate already.
//!
//! `Nrt` implements it by libnrt, the runtime of AWS Neuron, which is opened at run time too and runs what `neuronx-cc` has finished
//! ([`Program::with_neff`]); `find_nrt` says where it is. It comes with the feature `nrt`, which is on by default.
//!
//! Some plugins take StableHLO instead of HLO. Making one of the other needs to know both, which this crate does not: an executor says
//! which it takes ([`Executor::format`]), and whoever has the HLO adds the text to the program ([`Program::in_format`]).
//!
//! XLA aborts the process on some inputs. Therefore this crate checks as much as it can before each call: the bytes decode and have a
//! signature of dense arrays ([`Program`]), and the inputs of a call fit it in number, element type, shape, device and owner. Rules
//! inside the module (operands, shapes of instructions) are the business of the HLO checker that ran before.
//!
//! All `unsafe` of Halite's libraries is in `pjrt` and `nrt`, each block with its reason. Nothing here prints.

mod error;
mod executor;
#[cfg(feature = "pjrt")]
mod find;
mod format;
mod give_up;
mod input;
#[cfg(feature = "pjrt")]
pub mod install;
mod neff;
#[cfg(feature = "nrt")]
pub mod nrt;
#[cfg(feature = "pjrt")]
pub mod pjrt;
mod program;
mod signature;

pub use error::{Result, RuntimeError, Status, StatusCode};
pub use executor::{Buffer, DeviceBuffer, Executable, Executor, Input, MemoryStats, evaluate, evaluate_replicas};
#[cfg(feature = "pjrt")]
pub use find::{PLUGIN_VARIABLE, find_plugin, plugin_path};
pub use format::ProgramFormat;
pub use give_up::GiveUp;
pub use input::check_inputs;
pub use neff::Neff;
#[cfg(feature = "nrt")]
pub use nrt::{NRT_FOLDER, NRT_VARIABLE, Nrt, NrtCall, NrtError, NrtOptions, NrtStatus, NrtVersion, find_nrt};
#[cfg(feature = "pjrt")]
pub use pjrt::{ClientOptions, OptionValue, Pjrt, silence_xla_log};
pub use program::{CompileOptions, Program};
pub use signature::{Signature, TensorSpec};
