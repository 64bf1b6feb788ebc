//! Gradient accumulation: the steps whose gradients make one update.

use crate::schema::{Field, Kind};
use crate::{table, words};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Steps over a batch whose gradients make one update. In TOML `accumulate = 8` or `accumulate = { steps = 8, form = "one" }`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "AccumulateText", into = "AccumulateText")]
pub struct Accumulate {
    /// Batches in one update, at least 1.
    pub steps: u32,
    /// How it is compiled; `None` leaves it to the compiler.
    pub form: Option<Form>,
}

impl Accumulate {
    /// The most batches of an update that one program goes through: it has instructions of its own for each.
    pub const MAX_IN_ONE: u64 = 1 << 14;

    /// Holds the batches of an update to what one program goes through.
    ///
    /// # Errors
    /// [`RECIPE_RANGE`](codes::RECIPE_RANGE) when there are more.
    pub fn check_in_one(steps: u64) -> Result<()> {
        if steps <= Self::MAX_IN_ONE {
            return Ok(());
        }
        let message =
            format!("`accumulate` is {steps}, and one program goes through at most {} batches", Self::MAX_IN_ONE);
        Err(Diagnostic::error(codes::RECIPE_RANGE, message)
            .key("accumulate")
            .help(format!("have two programs accumulate: `accumulate = {{ steps = {steps}, form = \"two\" }}`")))
    }
}

words! {
    /// How accumulation is compiled.
    pub enum Form {
        /// One program that goes through all batches of an update.
        One = "one",
        /// Two programs: one adds the gradients of a batch, one updates.
        Two = "two",
    }
}

/// The TOML forms of an [`Accumulate`]: a number of steps, or a table.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum AccumulateText {
    Steps(u32),
    Table(AccumulateTable),
}

table! {
    struct AccumulateTable {
        /// Batches in one update.
        steps: u32 as Kind::DEGREE,
        /// How it is compiled. Left out, the compiler chooses.
        #[serde(skip_serializing_if = "Option::is_none")]
        form: Option<Form> = None,
    }
}

impl Field for Accumulate {
    const KIND: Kind = Kind::WholeOrTable(1, u32::MAX as i64, Cow::Borrowed(AccumulateTable::KEYS));
}

impl From<AccumulateText> for Accumulate {
    fn from(text: AccumulateText) -> Self {
        match text {
            AccumulateText::Steps(steps) => Self { steps, form: None },
            AccumulateText::Table(AccumulateTable { steps, form }) => Self { steps, form },
        }
    }
}

impl From<Accumulate> for AccumulateText {
    fn from(Accumulate { steps, form }: Accumulate) -> Self {
        match form {
            None => Self::Steps(steps),
            Some(_) => Self::Table(AccumulateTable { steps, form }),
        }
    }
}
