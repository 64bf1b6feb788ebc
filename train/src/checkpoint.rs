//! Checkpoints of a run: each is a state in a folder of its own. An incomplete one is never taken for a checkpoint.

mod background;
mod due;
mod folder;
mod lock;
mod manifest;

pub(super) use background::{Background, Save, put};
pub(super) use due::Due;
pub use due::is_due;
pub use folder::{Checkpoint, Checkpoints, Newest};
pub(super) use folder::{STATE, text_of};
pub(super) use lock::{LOCK, RunLock};
pub(super) use manifest::FileSum;

#[cfg(test)]
mod tests;
