//! Features that a build may lack.

use halite_support::{Diagnostic, codes};

/// The error of an input that needs a feature of this crate that was not built in.
#[cfg_attr(
    all(feature = "compressed", feature = "parquet", feature = "tokenizers"),
    allow(dead_code, reason = "everything is built in")
)]
pub(crate) fn lacking(what: &str, feature: &str, instead: &str) -> Diagnostic {
    Diagnostic::error(codes::NOT_SUPPORTED, format!("{what}, which this build does not read"))
        .help(format!("{instead}, or build with the feature `{feature}`"))
}
