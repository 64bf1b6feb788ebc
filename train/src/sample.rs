//! A text that a model went on with.

use serde::{Deserialize, Serialize};

/// A text that the model went on with; a line of `samples.jsonl`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Completed updates.
    pub step: u64,
    /// What it went on with: the beginning of what is held out, or else of what it was trained on.
    pub prompt: String,
    /// What it wrote.
    pub text: String,
}
