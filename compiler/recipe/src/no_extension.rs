//! What recipes may name where nobody adds to it.

use crate::{Extension, Section, builtin_rules};

/// No target but the default one and no table; the update rules and shapes that Halite comes with.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtension;

impl Extension for NoExtension {
    fn targets(&self) -> Vec<&str> {
        vec!["cpu"]
    }

    fn sections(&self) -> Vec<&'static Section> {
        Vec::new()
    }

    fn rules(&self) -> Vec<&'static Section> {
        builtin_rules::rules()
    }

    fn shapes(&self) -> Vec<&'static Section> {
        builtin_rules::shapes()
    }
}
