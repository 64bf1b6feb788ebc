//! What a name that nothing has may have been meant to be.

use halite_support::Diagnostic;

/// `name` in backticks with a suggestion, as help for an unknown name.
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
