//! Running HLO.
//!
//! An [`Executor`] compiles the bytes of a serialized `HloModuleProto` into an [`Executable`] and holds arrays on its
//! devices as [`Buffer`]s. The one implementation so far, [`Pjrt`], opens a PJRT plugin at run time, so building this
//! crate needs no XLA. [`find_plugin`] says where the plugin is, [`install`] puts it there.
//!
//! XLA aborts the process on some inputs. What can be checked is therefore checked here, before each call: the bytes
//! decode and have a signature of dense arrays ([`Program`]), and the inputs of a call fit it in number, element type,
//! shape, device and owner. Rules inside the module (operands, shapes of instructions) are the business of the HLO
//! checker that ran before.
//!
//! All `unsafe` of the project is in [`pjrt`], each block with its reason. Nothing here prints.

mod error;
mod executor;
mod find;
mod input;
pub mod install;
pub mod pjrt;
mod program;
mod signature;

pub use error::{Result, RuntimeError, Status, StatusCode};
pub use executor::{Buffer, DeviceBuffer, Executable, Executor, Input, MemoryStats, evaluate, evaluate_replicas};
pub use find::{PLUGIN_VARIABLE, find_plugin, plugin_path};
pub use pjrt::{ClientOptions, Pjrt};
pub use program::{CompileOptions, Program};
pub use signature::{Signature, TensorSpec};
