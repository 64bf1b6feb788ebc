//! Published ratios of what runs cost, beside what the model says of them.

use crate::{Judged, table};
use halite_estimate::Provenance;
use halite_estimate::time::PriceKind;
use halite_support::Result;
use serde::{Deserialize, Serialize};

/// A published ratio of costs of a token.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostRatio {
    /// The run, by the name of its row.
    pub of: String,
    /// The run that it is compared with, by the name of its row.
    pub over: String,
    /// The cost of a token of the first as a part of that of the second.
    pub published: f64,
    /// A reason for the model to say another one; empty where none is known.
    #[serde(default)]
    pub note: String,
    /// The source.
    pub provenance: Provenance,
}

impl CostRatio {
    /// The ratio that the model says, at on-demand prices; `None` where a row is not among these, or has no such price.
    pub fn told(&self, judged: &[Judged]) -> Option<f64> {
        let cost = |name: &str| {
            let own = judged.iter().find(|own| own.row.name == name)?;
            Some(own.bill.costs.iter().find(|cost| cost.kind == PriceKind::OnDemand)?.billion_tokens)
        };
        Some(cost(&self.of)? / cost(&self.over)?)
    }
}

/// The published ratios of this build.
///
/// # Errors
/// A bug: the table is part of the build, and a test reads it.
pub fn cost_ratios() -> Result<Vec<CostRatio>> {
    table::rows(include_str!("../data/costs.toml"), "published costs")
}
