//! Word that nothing is worth waiting for any more.

use std::sync::{Arc, OnceLock};

/// Says that nothing is worth waiting for any more, and why: what a call of a program waits for may be another process, which is gone.
/// Clones are one.
#[derive(Clone, Debug, Default)]
pub struct GiveUp(Arc<OnceLock<String>>);

impl GiveUp {
    /// Has calls that are under way given up, and all later ones. The first reason stands.
    pub fn because(&self, reason: impl Into<String>) {
        // One that came before stands.
        let _ = self.0.set(reason.into());
    }

    /// The reason, where there is one.
    pub fn reason(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

impl PartialEq for GiveUp {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GiveUp {}
