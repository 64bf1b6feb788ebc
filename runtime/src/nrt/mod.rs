//! The executor on libnrt, the runtime of AWS Neuron.
//!
//! Layers, each hiding the pointers of the one below: `ffi` declares what the public headers do; `library` opens the library and finds
//! its functions; `worker` is the one thread that calls them, each call within a limit of time; `session` begins and ends the runtime
//! of the process; `tensor`, `tensor_set` and `model` own one kind of object each; `executor` brings them together.
//!
//! Sources: the headers `nrt.h`, `nrt_experimental.h`, `nrt_status.h` and `nrt_version.h` in `src/libnrt/include/nrt` of
//! <https://github.com/aws-neuron/aws-neuron-sdk>, and `neuron-runtime/guides/nrt-developer-guide.rst` (here "the guide") and
//! `neuron-runtime/nrt-troubleshoot.rst` there, read in November 2026. Statements without a source are marked so. Nothing here was run
//! on a device.

mod error;
mod executor;
mod ffi;
mod find;
mod library;
mod model;
mod options;
mod session;
mod status;
mod tensor;
mod tensor_set;
mod version;
mod worker;

pub use error::NrtError;
pub use executor::Nrt;
pub use find::{NRT_FOLDER, NRT_VARIABLE, find_nrt};
pub use options::NrtOptions;
pub use status::{NrtCall, NrtStatus};
pub use version::NrtVersion;
