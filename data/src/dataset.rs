//! Streams of sequences, and where they are.

use crate::Rows;
use halite_support::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a data set is: what it gives next follows from it. Only the data set knows what it says; states keep it as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub serde_json::Value);

/// What was left out of a data set for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// Why, such as `empty document`.
    pub reason: String,
    /// How often.
    pub count: u64,
    /// One place where it was: a file, with the line or byte.
    pub example: String,
}

/// An endless stream of sequences in an order of its own: when all was given, it begins anew.
pub trait Dataset: Send {
    /// The next so many sequences. The stream is the same however it is cut into calls.
    ///
    /// # Errors
    /// When what they are made of cannot be read, or is not what it should be.
    fn next(&mut self, rows: usize) -> Result<Rows>;

    /// Where it is now.
    fn position(&self) -> Position;

    /// Goes on from a position.
    ///
    /// # Errors
    /// When the position is not one of this data set.
    fn seek(&mut self, position: &Position) -> Result<()>;

    /// How often all of it was given.
    fn epochs(&self) -> u64;

    /// What tells it from others, for people to compare: keys with values.
    fn identity(&self) -> BTreeMap<String, String>;

    /// How many token ids a model must know.
    fn vocabulary(&self) -> u64;

    /// What was left out so far, a line for each reason.
    fn skipped(&self) -> Vec<Skipped> {
        Vec::new()
    }
}

/// Data that training does not see, on which its loss is measured.
pub struct HeldOut {
    /// What it is called in metrics; empty for the only one.
    pub name: String,
    /// Its sequences, from the first.
    pub data: Box<dyn Dataset>,
}

/// The data of a run.
pub struct Opened {
    /// What is trained on.
    pub train: Box<dyn Dataset>,
    /// What is held out.
    pub held_out: Vec<HeldOut>,
}

/// What data are opened from, once it is known what a model takes.
pub trait Data {
    /// Opens the data as sequences of `width` tokens, in an order that follows from the seed.
    ///
    /// # Errors
    /// When there are no such data, or too little of them for one sequence.
    fn open(&self, width: usize, seed: u64) -> Result<Opened>;
}
