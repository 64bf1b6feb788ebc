//! What a run trains on, as sequences of tokens.
//!
//! A [`Dataset`] is an endless stream of sequences with a position, from which it goes on exactly; [`Data`] opens one for sequences of
//! some width, with what is held out.

mod dataset;
mod rows;

pub use dataset::{Data, Dataset, HeldOut, Opened, Position, Skipped};
pub use rows::Rows;
