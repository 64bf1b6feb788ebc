//! The executor that opens a PJRT plugin.
//!
//! Layers, each hiding the pointers of the one below: `ffi` declares the C structs and the function table;
//! `plugin` opens the library and turns `PJRT_Error` into [`Status`](crate::Status); `client`, `executable` and `buffer`
//! own one kind of PJRT object each and destroy it when dropped; `executor` brings them together. Objects keep their client alive; a plugin is never
//! unloaded.

mod buffer;
mod client;
mod client_options;
mod event;
mod executable;
mod executor;
mod ffi;
mod log;
mod options;
mod plugin;

pub use client_options::{ClientOptions, OptionValue};
pub use executor::Pjrt;
pub use log::silence_xla_log;
