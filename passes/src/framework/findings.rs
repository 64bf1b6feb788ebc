//! Findings of passes that do not stop them.

use crate::framework::remark::Remark;
use halite_support::Diagnostic;
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::cell::RefCell;

/// Findings of the passes of one run of a pipeline that do not stop it: reports, one of each type, remarks and warnings.
#[derive(Debug, Default)]
pub struct Findings {
    reports: RefCell<FxHashMap<TypeId, Box<dyn Any + Send>>>,
    remarks: Option<RefCell<Vec<Remark>>>,
    warnings: RefCell<Vec<Diagnostic>>,
}

impl Findings {
    /// Findings that keep remarks too.
    pub fn with_remarks() -> Self {
        Self { remarks: Some(RefCell::default()), ..Self::default() }
    }

    /// The report of a type, where a pass has left one.
    ///
    /// ```
    /// use halite_passes::Findings;
    ///
    /// /// What a pass of yours counts.
    /// #[derive(Clone, PartialEq, Debug)]
    /// struct Products(usize);
    ///
    /// let findings = Findings::default();
    /// assert_eq!(findings.report::<Products>(), None);
    /// findings.keep(Products(2));
    /// assert_eq!(findings.report(), Some(Products(2)));
    /// ```
    pub fn report<T: Clone + 'static>(&self) -> Option<T> {
        self.reports.borrow().get(&TypeId::of::<T>())?.downcast_ref().cloned()
    }

    /// Keeps a report, in the place of an earlier one of its type.
    pub fn keep<T: Send + 'static>(&self, report: T) {
        self.reports.borrow_mut().insert(TypeId::of::<T>(), Box::new(report));
    }

    /// Whether remarks are kept.
    pub(crate) fn keeps_remarks(&self) -> bool {
        self.remarks.is_some()
    }

    /// Keeps a remark, which is only made when remarks are kept.
    pub(crate) fn remark(&self, remark: impl FnOnce() -> Remark) {
        if let Some(remarks) = &self.remarks {
            remarks.borrow_mut().push(remark());
        }
    }

    /// The remarks so far, in order.
    pub fn remarks(&self) -> Vec<Remark> {
        self.remarks.as_ref().map(|remarks| remarks.borrow().clone()).unwrap_or_default()
    }

    /// Keeps a warning about how passes ran.
    pub(crate) fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().push(warning);
    }

    /// The warnings about how passes ran, in order: those of reports stand in these.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().clone()
    }
}
