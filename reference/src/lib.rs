//! The reference of Halite: an entry for everything that can be called, set or met, collected from the registries of a session, and
//! found by a word.
//!
//! The text of an entry stands where the thing itself is: documentation of ops and recipe keys, tables of builtins and diagnostics,
//! summaries of passes. Types, gradients and HLO are derived from samples, examples are files that tests hold. Only the chapters on
//! the language, `docs/language/`, and the [words] of newcomers are written for the reference.
//!
//! Nothing here prints: [`pages`] makes the files below `docs/`, [`shown`] the text of `halite help`.

mod entries;
mod entry;
mod markdown;
mod page;
mod reference;
mod search;
mod shown;
pub mod words;

pub use entry::{Entry, Kind};
pub use page::pages;
pub use reference::Reference;
pub use search::Found;
pub use shown::shown;
