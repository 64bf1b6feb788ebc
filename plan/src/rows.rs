//! Published figures of training runs.

use crate::{Bill, table};
use halite_estimate::Provenance;
use halite_support::Result;
use serde::{Deserialize, Serialize};

/// A published figure of a training run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The run in some words.
    pub name: String,
    /// The preset or model.
    pub input: String,
    /// The keys of the recipe, with the layout.
    pub set: Vec<String>,
    /// The machine, by the name of its target.
    pub machine: String,
    /// The outcome.
    pub measured: Measure,
    /// The memory of a rank at its peak, in GiB, where the source has it.
    #[serde(default)]
    pub memory: Option<f64>,
    /// The share of the rates of programs on the machine that the software reached which ran it, 1 where the machine's efficiencies are of it.
    #[serde(default = "whole")]
    pub software: f64,
    /// Whether efficiencies were fitted to it.
    #[serde(default)]
    pub fitted: bool,
    /// Keys that the source does not state, which are our guess.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// A contradiction in the source of the row, which is shown and not counted; empty where there is none.
    #[serde(default)]
    pub doubt: String,
    /// How the run differed from what the recipe says, and what that explains; empty where nothing is known.
    #[serde(default)]
    pub note: String,
    /// The source.
    pub provenance: Provenance,
}

fn whole() -> f64 {
    1.0
}

/// The outcome of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Measure {
    /// Seconds of an update.
    StepSeconds(f64),
    /// Sequences in a second, over all ranks.
    SequencesPerSecond(f64),
    /// Tokens in a second, of one rank.
    TokensPerSecondOfRank(f64),
    /// Model FLOPs utilization, as its source counts it.
    Mfu {
        /// The share of the peak rate of all ranks.
        share: f64,
        /// Floating-point operations of a sequence.
        sequence_flops: f64,
        /// Those that a rank does in a second at most.
        peak: f64,
    },
    /// It ran; no speed is published.
    Ran,
    /// It did not run for want of device memory.
    OutOfMemory,
}

impl Measure {
    /// The seconds of an update that it says, of a run with sequences of `seq` tokens; `None` where it says no speed.
    pub(crate) fn seconds(self, bill: &Bill, seq: f64) -> Option<f64> {
        let tokens = bill.tokens as f64;
        match self {
            Measure::StepSeconds(seconds) => Some(seconds),
            Measure::SequencesPerSecond(rate) => Some(tokens / seq / rate),
            Measure::TokensPerSecondOfRank(rate) => Some(tokens / bill.ranks as f64 / rate),
            Measure::Mfu { share, sequence_flops, peak } => {
                Some(tokens / seq * sequence_flops / (share * peak * bill.ranks as f64))
            }
            Measure::Ran | Measure::OutOfMemory => None,
        }
    }
}

/// The published figures of this build.
///
/// # Errors
/// A bug: the table is part of the build, and a test reads it.
pub fn rows() -> Result<Vec<Row>> {
    table::rows(include_str!("../data/rows.toml"), "published figures")
}
