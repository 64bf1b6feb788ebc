//! What passes find without stopping.

use crate::analysis::audit::result::Audit;
use crate::framework::remark::Remark;
use halite_analysis::CausalityReport;
use halite_analysis::ReplicaFinding;
use halite_support::{Diagnostic, Result};
use std::cell::RefCell;

/// Where the passes of one run of a pipeline leave what they find without stopping.
#[derive(Debug, Default)]
pub struct Findings {
    audit: RefCell<Option<Audit>>,
    causality: RefCell<Option<CausalityReport>>,
    remarks: Option<RefCell<Vec<Remark>>>,
    warnings: RefCell<Vec<Diagnostic>>,
    unproven_replicas: RefCell<Option<ReplicaFinding>>,
}

impl Findings {
    /// Findings that keep remarks too.
    pub fn with_remarks() -> Self {
        Self { remarks: Some(RefCell::default()), ..Self::default() }
    }

    /// Keeps the first audit of a run. Later ones may find less, because later modules show less, but not more; except for sums over ranks,
    /// which nobody has made before, in the type that the recipe states for them.
    ///
    /// # Errors
    /// The first finding that the first audit did not have.
    pub(crate) fn add(&self, audit: Audit) -> Result<()> {
        let mut first = self.audit.borrow_mut();
        match first.as_ref().and_then(|first| audit.beyond(first)) {
            Some(new) => Err(new.clone()),
            None => {
                match first.as_mut() {
                    Some(first) => first.add_stated_reduces(audit),
                    None => *first = Some(audit),
                }
                Ok(())
            }
        }
    }

    /// Keeps the first report on causality that says something. Given before a run, it tells `check-causality` what was proven of
    /// the module that the run starts from.
    pub fn add_causality(&self, report: CausalityReport) {
        let mut first = self.causality.borrow_mut();
        if first.as_ref().is_none_or(CausalityReport::is_empty) {
            *first = Some(report);
        }
    }

    /// The report on causality; `None` where none was asked for.
    pub fn causality(&self) -> Option<CausalityReport> {
        self.causality.borrow().clone()
    }

    /// Whether remarks are kept.
    pub(crate) fn keeps_remarks(&self) -> bool {
        self.remarks.is_some()
    }

    /// Keeps a remark, which is only made when someone wants to read it.
    pub(crate) fn remark(&self, remark: impl FnOnce() -> Remark) {
        if let Some(remarks) = &self.remarks {
            remarks.borrow_mut().push(remark());
        }
    }

    /// The remarks so far, in order.
    pub fn remarks(&self) -> Vec<Remark> {
        self.remarks.as_ref().map(|remarks| remarks.borrow().clone()).unwrap_or_default()
    }

    /// Keeps what is not proven of how values lie on ranks.
    pub(crate) fn add_unproven_replicas(&self, unproven: ReplicaFinding) {
        self.unproven_replicas.borrow_mut().get_or_insert(unproven);
    }

    /// The first value of which it is not proven that ranks hold it as the layout says; `None` where all are, or none was asked for.
    pub fn unproven_replicas(&self) -> Option<ReplicaFinding> {
        self.unproven_replicas.borrow().clone()
    }

    /// Keeps a warning about how passes ran.
    pub(crate) fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().push(warning);
    }

    /// The warnings about how passes ran, in order: those of the audit and of causality stand in their reports.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().clone()
    }

    /// What the precision audit found; nothing where none was made.
    pub fn into_audit(self) -> Audit {
        self.audit.into_inner().unwrap_or_default()
    }
}
