//! The factor that keeps small gradients within the range of `f16`.

use crate::schema::{Field, Kind};
use crate::table;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The factor that the objective is multiplied by before it is differentiated; gradients and objective are divided by it again, in
/// `f32` at least, before any other use. It is a power of two, so the scaling changes no digit.
///
/// The objective is the sum over a micro-batch. In TOML `loss_scale = 1024`, always this, where 1 is no scaling; or
/// `loss_scale = { initial = 4096, interval = 2000, min = 1 }`, as [`DynamicLossScale`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "LossScaleText", into = "LossScaleText")]
pub enum LossScale {
    /// Always this.
    Fixed(u32),
    /// As large as gradients allow.
    Dynamic(DynamicLossScale),
}

impl LossScale {
    /// The largest.
    pub const MAX: u32 = 1 << 24;

    /// No scaling.
    pub const NONE: Self = Self::Fixed(1);
}

table! {
    /// A scale that is halved at each update whose loss or gradient norm is not finite, which is skipped, and doubled after `interval`
    /// updates in a row that are, to 2^24 at most.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct DynamicLossScale {
        /// Where it starts.
        pub initial: u32 as SCALE = 4096,
        /// Updates in a row with finite gradients after which it is doubled.
        pub interval: u32 as Kind::DEGREE = 2000,
        /// Minimum scale. Gradients that are not finite at this scale are treated as the recipe's `nonfinite` says.
        pub min: u32 as SCALE = 1,
    }
}

/// The schema kind of a scale: from 1 to [`LossScale::MAX`].
const SCALE: Kind = Kind::Whole(1, LossScale::MAX as i64);

/// The TOML forms of a [`LossScale`]: a fixed scale, or a table.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LossScaleText {
    Fixed(u32),
    Dynamic(DynamicLossScale),
}

impl Field for LossScale {
    const KIND: Kind = Kind::WholeOrTable(1, LossScale::MAX as i64, Cow::Borrowed(DynamicLossScale::KEYS));
}

impl From<LossScaleText> for LossScale {
    fn from(text: LossScaleText) -> Self {
        match text {
            LossScaleText::Fixed(scale) => Self::Fixed(scale),
            LossScaleText::Dynamic(scale) => Self::Dynamic(scale),
        }
    }
}

impl From<LossScale> for LossScaleText {
    fn from(scale: LossScale) -> Self {
        match scale {
            LossScale::Fixed(scale) => Self::Fixed(scale),
            LossScale::Dynamic(scale) => Self::Dynamic(scale),
        }
    }
}
