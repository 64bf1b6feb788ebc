//! Rules of the target that a recipe allows a program to break.

use super::super::Places;
use crate::legality::refuse_allowed;
use halite_support::Diagnostics;

/// Each names a rule, and one that can be allowed.
pub(super) fn check(allow: &[String], places: &Places, mistakes: &mut Diagnostics) {
    for (index, id) in allow.iter().enumerate() {
        let place = places.nearest(&format!("neuron.allow.{index}"));
        mistakes.extend(refuse_allowed(id).map(|mistake| mistake.or_at(place, "stated here")));
    }
}
