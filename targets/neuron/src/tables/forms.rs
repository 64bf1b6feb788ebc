//! Forms between which HLO leaves a choice.

use crate::Generation;
use halite_target::Provenance;
use serde::{Deserialize, Serialize};

/// How a target wants what HLO can say in several ways.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    /// The targets of which this is said.
    pub targets: Vec<Generation>,
    /// Whether reads at positions are products with one-hot matrices, and not `gather`.
    pub one_hot_reads: bool,
    /// Whether sums at positions are products with one-hot matrices, and not `scatter`.
    pub one_hot_sums: bool,
    /// Where that is known from.
    pub provenance: Provenance,
}
