//! Results of an audit.

use halite_support::{Diagnostic, Diagnostics, Span};
use indexmap::{IndexMap, IndexSet};

/// The findings of an audit, and the number of things that it looked at.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Audit {
    pub(super) findings: IndexMap<FindingKey, Finding>,
    /// The number of things that it looked at.
    pub checked: Checked,
}

/// The number of things that an audit looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Checked {
    /// Sensitive ops.
    pub sensitive: usize,
    /// Sums of many elements.
    pub sums: usize,
    /// Sums of gradients.
    pub gradients: usize,
    /// Weights.
    pub weights: usize,
    /// Moments of the optimizer.
    pub moments: usize,
}

/// The key of a finding: pieces of evidence with equal keys make one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct FindingKey {
    pub(super) code: &'static str,
    /// The line of the model.
    pub(super) span: Option<Span>,
    /// The subject, where that is not an instruction.
    pub(super) what: Option<String>,
    pub(super) dtype: &'static str,
    /// The entry of the recipe that fixes it.
    pub(super) entry: Option<String>,
}

impl FindingKey {
    /// Whether another key has the same code, line and subject, whatever its type and its fix.
    fn is_alike(&self, other: &FindingKey) -> bool {
        (self.code, self.span, &self.what) == (other.code, other.span, &other.what)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) diagnostic: Diagnostic,
    /// The primitives or the parameters that are too narrow, as far as later modules still show them.
    pub(super) narrow: IndexSet<String>,
    /// Whether it is a sum over ranks in the type that the recipe states for these. There are none before a program is made for several
    /// ranks.
    pub(super) is_stated_reduce: bool,
}

impl Audit {
    /// The findings, as warnings, in the order of codes and then of the model.
    pub fn diagnostics(&self) -> Diagnostics {
        self.findings.values().map(|finding| finding.diagnostic.clone()).collect()
    }

    /// The first finding that `earlier` does not have, or has of other primitives or parameters; but for sums over ranks in the type
    /// that the recipe states for them.
    pub fn beyond(&self, earlier: &Audit) -> Option<&Diagnostic> {
        let is_new = |finding_key: &FindingKey, finding: &Finding| {
            !finding.is_stated_reduce && !earlier.covers(finding_key, finding)
        };
        let new = self.findings.iter().find(|(finding_key, finding)| is_new(finding_key, finding));
        new.map(|(_, finding)| &finding.diagnostic)
    }

    fn covers(&self, finding_key: &FindingKey, finding: &Finding) -> bool {
        let alike: Vec<_> = self.findings.iter().filter(|(known, _)| known.is_alike(finding_key)).collect();
        let is_known = |narrow: &String| alike.iter().any(|(_, known)| known.narrow.contains(narrow));
        !alike.is_empty() && finding.narrow.iter().all(is_known)
    }

    /// Adds what a later audit of the same module says of sums over ranks, in the type that the recipe states for them.
    pub(crate) fn add_stated_reduces(&mut self, mut later: Audit) {
        later.findings.retain(|_, finding| finding.is_stated_reduce);
        self.merge(later);
        self.findings.sort_keys();
    }

    /// Adds the findings of another module of the same recipe that this one does not have.
    pub fn merge(&mut self, other: Audit) {
        for (finding_key, finding) in other.findings {
            self.findings.entry(finding_key).or_insert(finding);
        }
    }
}
