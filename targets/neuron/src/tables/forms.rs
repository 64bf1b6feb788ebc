//! Forms between which HLO leaves a choice.

use crate::Generation;
use halite_target::Provenance;
use serde::{Deserialize, Serialize};

/// The forms that a target wants for HLO that can be written in several ways.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    /// The targets that this applies to.
    pub targets: Vec<Generation>,
    /// Whether reads at positions are products with one-hot matrices, and not `gather`.
    pub one_hot_reads: bool,
    /// Whether sums at positions are products with one-hot matrices, and not `scatter`.
    pub one_hot_sums: bool,
    /// The source of this.
    pub provenance: Provenance,
}
