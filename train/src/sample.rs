//! A text that a model generated.

use serde::{Deserialize, Serialize};

/// A text that the model generated; a line of `samples.jsonl`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Completed updates.
    pub step: u64,
    /// The prompt: the beginning of the held-out data, or else of the training data.
    pub prompt: String,
    /// The text that the model generated.
    pub text: String,
}
