//! Places in files.

use halite_support::{Diagnostic, codes};
use serde::{Deserialize, Serialize};

/// The place where a block of a file begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// Bytes of the text, tokens or rows before it.
    pub(crate) at: u64,
    /// Whether it goes on with a document that began in the block before.
    pub(crate) within: bool,
}

/// A position that does not fit the data.
pub(crate) fn not_ours(message: String) -> Diagnostic {
    Diagnostic::error(codes::OTHER_RUN, message).help("resume with the data that the state was saved with")
}
