//! What passes find without stopping.

use crate::audit::Audit;
use halite_support::Result;
use std::cell::RefCell;

/// Where the passes of one run of a pipeline leave what they find without stopping.
#[derive(Debug, Default)]
pub struct Findings(RefCell<Option<Audit>>);

impl Findings {
    /// Keeps the first audit of a run. Later ones may find less, because later modules show less, but not more.
    ///
    /// # Errors
    /// The first finding that the first audit did not have.
    pub(crate) fn add(&self, audit: Audit) -> Result<()> {
        let mut first = self.0.borrow_mut();
        match first.as_ref().and_then(|first| audit.beyond(first)) {
            Some(new) => Err(new.clone()),
            None => {
                first.get_or_insert(audit);
                Ok(())
            }
        }
    }

    /// What the precision audit found; nothing where none was made.
    pub fn into_audit(self) -> Audit {
        self.0.into_inner().unwrap_or_default()
    }
}
