//! The results of verifying each prefix of a pipeline.

use super::{Culprit, VerifyRow};
use halite_support::{Diagnostics, Name};
use serde::Serialize;

/// The results of verifying each prefix of a pipeline.
///
/// A prefix consists of the first optimizations and all required passes. An error that a required pass makes of the output of an
/// optimization is attributed to that optimization.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct EachPassReport {
    /// Sizes that a small model has smaller: key, from, to. The latter are equal where the model takes no smaller one.
    pub scaled: Vec<(String, i64, i64)>,
    /// The results whose reference is not finite. Where there are any nothing is verified and nothing blamed.
    pub not_finite: Vec<String>,
    /// How many optimizations the pipeline runs.
    pub optimizations: usize,
    /// One row for each optimization that changed the module, up to the first after which a result is wrong.
    pub rows: Vec<PassRow>,
    /// That optimization.
    pub culprit: Option<Culprit>,
}

/// The result of verification after one optimization.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PassRow {
    /// Its number among the optimizations that ran, from 1.
    pub number: usize,
    /// The name of the pass.
    pub pass: String,
    /// Which application of the pass that is, from 1.
    pub application: usize,
    /// Instructions after it.
    pub instructions: usize,
    /// The wrong result; if none is wrong, the one with the largest error in the first draw relative to its bound.
    pub worst: Option<VerifyRow>,
    /// Why there are no results.
    pub failure: Option<String>,
}

impl EachPassReport {
    /// Whether results are right after each optimization.
    pub fn passed(&self) -> bool {
        self.culprit.is_none() && self.not_finite.is_empty() && self.rows.iter().all(PassRow::passed)
    }
}

impl PassRow {
    pub(super) fn new(
        number: usize,
        pass: String,
        application: usize,
        instructions: usize,
        rows: Result<Vec<VerifyRow>, Diagnostics>,
    ) -> Self {
        let rank = |row: &VerifyRow| (row.is_wrong(), !row.passed(), row.error / row.allowed.max(f64::MIN_POSITIVE));
        let (worst, failure) = match rows {
            Ok(rows) => (rows.into_iter().reduce(|a, b| if rank(&b) > rank(&a) { b } else { a }), None),
            Err(errors) => (None, errors.first().map(ToString::to_string)),
        };
        Self { number, pass, application, instructions, worst, failure }
    }

    /// Whether every result is right.
    pub fn passed(&self) -> bool {
        self.failure.is_none() && self.worst.as_ref().is_none_or(VerifyRow::passed)
    }

    /// Whether a result is wrong, or there are none.
    pub fn is_wrong(&self) -> bool {
        self.failure.is_some() || self.worst.as_ref().is_some_and(VerifyRow::is_wrong)
    }
}

/// Which application of its pass optimization `number` is, both counted from 1.
pub(super) fn application(names: &[Name], number: usize) -> usize {
    let before = &names[..number];
    before.iter().filter(|name| before.last() == Some(name)).count()
}
