//! Entries of each kind, collected from where the things are.

pub(crate) mod blocks;
pub(crate) mod builtins;
mod case;
pub(crate) mod composites;
pub(crate) mod diagnostics;
mod golden;
pub(crate) mod language;
pub(crate) mod ops;
pub(crate) mod passes;
pub(crate) mod recipe;
mod sample;
