//! Rules of the target that a recipe allows a program to break.

use crate::allow::refuse_allowed;
use halite_support::Diagnostic;

/// Each names a rule, and one that can be allowed.
pub(super) fn check(allow: &[String]) -> impl Iterator<Item = Diagnostic> {
    let refused = |(index, id): (usize, &String)| Some(refuse_allowed(id)?.key(format!("neuron.allow.{index}")));
    allow.iter().enumerate().filter_map(refused)
}
