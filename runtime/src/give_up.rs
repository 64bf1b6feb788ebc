//! A signal to give up waiting.

use std::sync::{Arc, OnceLock};

/// A signal to give up waiting, with the reason: a call of a program may wait for another process that is gone. Clones share the
/// signal.
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
