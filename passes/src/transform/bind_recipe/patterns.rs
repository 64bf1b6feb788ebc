//! Patterns of a recipe, against the weights that there are.

use crate::framework::pattern::matches_pattern;
use halite_ir::{Function, Param};
use halite_support::{Diagnostic, codes};

/// The names that patterns match: those of weights as the model has them.
pub(super) fn weight_names(entry: &Function) -> Vec<&str> {
    entry.params.iter().filter(|param| param.weight().is_some()).flat_map(Param::originals).collect()
}

/// Whether a pattern matches none of these names.
pub(super) fn is_unmatched(pattern: &str, names: &[&str]) -> bool {
    !names.iter().any(|name| matches_pattern(pattern, name))
}

/// The error for a pattern, called `what`, at `key` of the recipe that matches none of these names.
pub(super) fn unmatched(what: &str, pattern: &str, names: &[&str], key: String) -> Diagnostic {
    let some: Vec<_> = names.iter().filter(|name| name.contains('.')).take(4).map(|name| format!("`{name}`")).collect();
    Diagnostic::error(codes::PATTERN, format!("{what} pattern `{pattern}` matches no parameter"))
        .note(format!("parameters are named like {}", some.join(", ")))
        .help("correct the pattern (`*` matches any text) or remove it")
        .key(key)
}
