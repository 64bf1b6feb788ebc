//! The passes that Halite comes with: those that the files of the folders list.

use crate::framework::registry::PassRegistry;
use crate::{analysis, recognize, transform};

impl PassRegistry {
    /// The built-in passes.
    pub fn builtin() -> Self {
        Self::new(transform::passes().into_iter().chain(recognize::passes()).chain(analysis::passes()))
    }
}
