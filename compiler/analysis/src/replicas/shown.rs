//! Witnesses of findings: inputs that show them.

use super::finding::ReplicaFinding;
use super::twice::sums_twice;
use super::witness::{ReplicaWitness, unlike_results};
use halite_ir::{Module, Registry};

/// A result that differs between ranks although the layout says that it is the same, or, among the findings, a sum of values that all
/// ranks hold already. `None` where no tried input shows one, where the module is too large to be tried, and where the interpreter
/// cannot run it.
pub fn unlike_ranks(module: &Module, registry: &Registry, findings: &[ReplicaFinding]) -> Option<ReplicaWitness> {
    let twice = || findings.iter().filter_map(|finding| finding.twice).find_map(|at| sums_twice(module, registry, at));
    unlike_results(module, registry).or_else(twice)
}
