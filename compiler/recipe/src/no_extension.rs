//! Recipes that name nothing of others.

use crate::{Extension, Section};

/// No target but the default one, no table, no update rule, no shape and no format.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtension;

impl Extension for NoExtension {
    fn targets(&self) -> Vec<&str> {
        vec!["cpu"]
    }

    fn sections(&self) -> Vec<&'static Section> {
        Vec::new()
    }
}
