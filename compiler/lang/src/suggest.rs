//! Suggestions for unknown names.

use halite_support::Diagnostic;

/// Adds the known name that is nearest to an unknown one, in backticks, as help.
pub(crate) fn suggest<'n>(
    diagnostic: Diagnostic,
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    match halite_support::nearest::nearest(name, candidates) {
        Some(candidate) => diagnostic.help(format!("did you mean `{candidate}`?")),
        None => diagnostic,
    }
}
