//! The identity of a model, which tells it from others.

use halite_bundle::sha256;
use halite_ir::{Module, text};

/// The SHA-256 of the IR of a model before all passes, without places in texts.
pub(crate) fn identity(model: &Module) -> String {
    sha256(text::print_with(model, text::PrintOptions { locations: false }).as_bytes())
}
