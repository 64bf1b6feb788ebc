//! Stopping work from outside.

use crate::{Diagnostic, Result, codes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that stops what looks at it: compiling between passes, training between steps. Clones share the switch, so that
/// one can be thrown from another thread.
///
/// ```
/// let token = halite_support::CancelToken::default();
/// assert!(token.check().is_ok());
/// token.clone().cancel();
/// assert_eq!(token.check().unwrap_err().code().id, "E0690");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Throws the switch, for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is thrown.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Goes on only while it is not thrown.
    ///
    /// # Errors
    /// With the code [`CANCELLED`](codes::CANCELLED) once it is.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Diagnostic::error(codes::CANCELLED, "the work was cancelled"));
        }
        Ok(())
    }
}
