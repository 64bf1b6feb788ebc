//! The executor on the crate [`xla`], for programs that use that crate already.
//!
//! All of this is behind the feature `xla`, since it is linked with a library that building the rest does not need; without it
//! the crate is empty.
//!
//! [`XlaRs`] implements [`Executor`](halite_runtime::Executor) on an [`xla::PjRtClient`], so that whatever runs on
//! [`Pjrt`](halite_runtime::Pjrt) runs on it. What it holds can be had as the types of that crate, and made from them:
//!
//! | of this crate | of `xla` | made by | copies |
//! |---|---|---|---|
//! | [`Program`](halite_runtime::Program) | [`XlaComputation`](xla::XlaComputation) | [`computation`] | the module, as messages |
//! | [`XlaRs`] | [`PjRtClient`](xla::PjRtClient) | [`XlaRs::new`], [`XlaRs::client`] | nothing |
//! | [`XlaExecutable`] | [`PjRtLoadedExecutable`](xla::PjRtLoadedExecutable) | [`XlaRs::load`], [`XlaExecutable::as_xla`] | nothing |
//! | [`Buffer`](halite_runtime::Buffer) | [`PjRtBuffer`](xla::PjRtBuffer) | [`XlaRs::adopt`], [`XlaBuffer::as_xla`], [`XlaBuffer::into_xla`] | nothing |
//! | [`HostTensor`](halite_tensor::HostTensor) | [`Literal`](xla::Literal) | [`to_literal`], [`from_literal`] | the elements, once: a literal owns its memory |
//!
//! # What the crate cannot do
//!
//! - **Options of XLA.** It compiles with the options of the process, which XLA reads from the variable `XLA_FLAGS` when it
//!   is first used. The default of [`CompileOptions`](halite_runtime::CompileOptions), exact rounding, is granted where
//!   [`EXACT_FLAGS`] stand in that variable and refused elsewhere: without them, XLA may keep narrow floats in a wider
//!   type, and its minimum and maximum lose NaN. An optimization level is always refused.
//! - **Devices.** The CPU client has one device, or as many as `--xla_force_host_platform_device_count` in `XLA_FLAGS`
//!   says. Replica r runs on device r. One process holds all replicas.
//! - **Threads.** XLA takes as many as the machine has cores; nothing here changes that.
//! - **Donation.** Every call takes the memory of each input that the module aliases with an output. A buffer that is
//!   [kept](halite_runtime::Input::Keep) in such a place is therefore copied on its device first, for each call. Code that calls the
//!   executable itself must expect [those inputs](XlaExecutable::donated_inputs) to be gone, although it only lends them.
//! - **Types.** XLA compares inputs by size only, so that `s32[4]` passes for `f32[4]`. Calls through
//!   [`Executable`](halite_runtime::Executable) are checked, direct ones are not. An element is at least a byte.
//! - **Whose buffer.** The crate tells neither the device nor the client of a buffer. [`XlaRs::adopt`] believes its caller;
//!   XLA's CPU client refuses a call with a buffer of another device or client.
//! - **Waiting.** The CPU client that [`XlaRs::cpu`] makes runs a program within the call. With a client whose calls
//!   return earlier, a failure of a run is seen when its results are read.
//! - **Custom calls.** Those of Neuron do not exist on CPU: a bundle's plain decomposition runs instead, as everywhere.
//! - **Memory statistics.** The crate does not show them.
//! - **Kinds of errors.** Texts only: each status is [`Unknown`](halite_runtime::StatusCode::Unknown).
//! - **Layouts.** The crate tells none. Literals and results are read as row-major, which they are on XLA's CPU, also where a
//!   module states another layout.
//! - **Its own traps.** `PjRtLoadedExecutable::execute`, the one that takes literals, never frees the buffers that it
//!   makes of them: upload once and call `execute_b`. `PjRtClient::buffer_from_host_literal` may return before the literal
//!   has been read: keep it until the buffer has been used, or upload through [`Executor`](halite_runtime::Executor).
//!   `HloModuleProto::parse_proto` tries other messages first and may take a module for one of them: [`computation`] says
//!   which message it is. `copy_raw_to_host_sync` and `copy_raw_to` write past their target for the types `F16` and `Bf16`,
//!   which have no size in Rust: use [`from_literal`].
//!
//! # Building
//!
//! The crate is linked with the library `xla_extension`. `eval "$(bash runtime/xla-rs/xla-extension.sh)"` sets the environment for
//! that, with the folder `$XLA_EXTENSION_DIR` if it is set and one made of Python packages if it is not. In the latter,
//! which has no MLIR, `HloModuleProto::to_stablehlo_string` is an error. XLA logs to the standard error stream; the variable
//! `TF_CPP_MIN_LOG_LEVEL=3`, set before the process starts, leaves what is fatal.

#![cfg_attr(not(feature = "xla"), allow(rustdoc::broken_intra_doc_links, reason = "what it speaks of is not there"))]
#![cfg(feature = "xla")]

mod buffer;
mod client;
mod computation;
mod convert;
mod donors;
mod executable;
mod executor;

pub use buffer::XlaBuffer;
pub use computation::computation;
pub use convert::{from_literal, to_literal};
pub use executable::XlaExecutable;
pub use executor::{EXACT_FLAGS, XlaRs};
pub use xla;

use halite_runtime::{Status, StatusCode};

/// An error of the crate as a status.
fn status(error: xla::Error) -> Status {
    let message = match error {
        // The text of this one ends in a backtrace.
        xla::Error::XlaError { msg, .. } => msg,
        other => other.to_string(),
    };
    Status::new(StatusCode::Unknown, message)
}
