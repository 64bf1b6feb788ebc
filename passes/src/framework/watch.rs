//! Cancelling the work, and listening to its progress.

use crate::framework::report::PassReport;
use halite_support::CancelToken;
use std::fmt;
use std::sync::Arc;

/// Hears of passes. Modules of a bundle are compiled in threads of their own, so that it hears of several at a time. A pass
/// that fails or is cancelled is started and never finished.
pub trait Progress: Send + Sync {
    /// A pass begins to run on the module of this name.
    fn started(&self, _module: &str, _pass: &str) {}

    /// A pass has run on it, and the module was verified.
    fn finished(&self, _module: &str, _report: &PassReport) {}
}

/// The token that cancels the work, and the listener to its progress. By default nobody listens, and nothing cancels.
#[derive(Clone, Default)]
pub struct Watch {
    /// Stops the work, within some milliseconds.
    pub cancel: CancelToken,
    /// Hears of each pass.
    pub progress: Option<Arc<dyn Progress>>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_heard = self.progress.is_some();
        f.debug_struct("Watch").field("cancel", &self.cancel).field("is_heard", &is_heard).finish()
    }
}

impl Watch {
    pub(crate) fn started(&self, module: &str, pass: &str) {
        if let Some(progress) = &self.progress {
            progress.started(module, pass);
        }
    }

    pub(crate) fn finished(&self, module: &str, report: &PassReport) {
        if let Some(progress) = &self.progress {
            progress.finished(module, report);
        }
    }
}
