//! Where the inputs and outputs of a module lie.

use halite_support::Name;
use halite_tensor::{Mesh, Sharding, SubAxisId};
use std::collections::BTreeMap;

/// The ranks that run a module, and what each of them holds of the entry's parameters and results. Types in the module are those of one rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    /// The ranks.
    pub mesh: Mesh,
    /// How what has a name is sharded, parameters and results; what a step replaces lies as its replacement does. What is not listed is the same on
    /// all ranks.
    pub shardings: BTreeMap<Name, Sharding>,
    /// Of what ranks hold terms of a sum, such as sums of gradients that are still to be added over data ranks, the sub-axes along which they do.
    pub terms: BTreeMap<Name, Vec<SubAxisId>>,
}
