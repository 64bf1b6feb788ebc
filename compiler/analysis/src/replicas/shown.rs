//! What inputs show of what is found.

use super::finding::ReplicaFinding;
use super::twice::sums_twice;
use super::witness::{ReplicaWitness, unlike_results};
use halite_ir::{Module, Registry};

/// A result that ranks do not have alike though the layout says so, or a sum, among what is found, of what all of them have already; `None`
/// where inputs that were tried show none, or where the module is too large to be tried, or of more than the interpreter follows.
pub fn unlike_ranks(module: &Module, registry: &Registry, findings: &[ReplicaFinding]) -> Option<ReplicaWitness> {
    let twice = || findings.iter().filter_map(|finding| finding.twice).find_map(|at| sums_twice(module, registry, at));
    unlike_results(module, registry).or_else(twice)
}
