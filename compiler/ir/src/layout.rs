//! The layout of a module: the shardings of its inputs and outputs.

use halite_support::Name;
use halite_tensor::{Mesh, Sharding, SubAxisId};
use std::collections::BTreeMap;

/// The ranks that run a module, and the shards of the entry's parameters and results that each of them holds. Types in the module are
/// those of one rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    /// The ranks.
    pub mesh: Mesh,
    /// The shardings of parameters and results by name; the replacement of a parameter has the same one. What is not listed is
    /// replicated.
    pub shardings: BTreeMap<Name, Sharding>,
    /// The sub-axes along which ranks hold partial sums, by name, such as those of gradients that are still to be added over data
    /// ranks.
    pub terms: BTreeMap<Name, Vec<SubAxisId>>,
}
