//! Gathering evidence into findings.

use super::ENOUGH;
use super::mend::{Mend, RecipeKey, Subject, mend};
use super::ops::Demand;
use crate::pattern::family;
use halite_ir::{LocId, LocTable};
use halite_spec::Precision;
use halite_support::{Code, Diagnostic, Diagnostics, Span, codes};
use halite_tensor::DType;
use indexmap::{IndexMap, IndexSet};

/// How many scopes a finding names.
const MAX_SCOPES: usize = 4;

/// What an audit found, and how much it looked at.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    findings: IndexMap<Place, Diagnostic>,
    /// How much it looked at.
    pub checked: Checked,
}

/// How much an audit looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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

/// What two pieces of evidence share that make one finding: the code, and the line of the model or else what it is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    code: &'static str,
    span: Option<Span>,
    what: Option<String>,
}

impl Audit {
    /// The findings, as warnings, in the order of codes and then of the model.
    pub fn diagnostics(&self) -> Diagnostics {
        self.findings.values().cloned().collect()
    }

    /// The first finding that `earlier` does not have.
    pub fn beyond(&self, earlier: &Audit) -> Option<&Diagnostic> {
        self.findings.iter().find(|(place, _)| !earlier.findings.contains_key(*place)).map(|(_, finding)| finding)
    }

    /// Adds the findings of another module of the same recipe that this one does not have.
    pub fn merge(&mut self, other: Audit) {
        for (place, finding) in other.findings {
            self.findings.entry(place).or_insert(finding);
        }
    }
}

/// An instruction that does something in too narrow a type.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) code: Code,
    pub(super) loc: LocId,
    /// The op, or what of the training step it is about.
    pub(super) what: &'a str,
    pub(super) dtype: DType,
}

/// What is known of one finding so far.
struct Draft {
    code: Code,
    what: IndexSet<String>,
    dtype: DType,
    /// Families of scopes; one that has a single member so far, with that.
    scopes: IndexMap<String, Option<String>>,
    places: usize,
    mend: Option<Mend>,
}

/// Findings in the making.
pub(super) struct Report<'a> {
    locs: &'a LocTable,
    precision: Option<&'a Precision>,
    drafts: IndexMap<Place, Draft>,
    audit: Audit,
}

impl<'a> Report<'a> {
    pub(super) fn new(locs: &'a LocTable, precision: Option<&'a Precision>) -> Self {
        Self { locs, precision, drafts: IndexMap::new(), audit: Audit::default() }
    }

    pub(super) fn checked(&mut self) -> &mut Checked {
        &mut self.audit.checked
    }

    pub(super) fn count(&mut self, demand: Demand) {
        let checked = self.checked();
        match demand {
            Demand::Sensitive => checked.sensitive += 1,
            Demand::Sum => checked.sums += 1,
            Demand::Gradient | Demand::Reduce => checked.gradients += 1,
        }
    }

    /// Adds evidence that an entry of the recipe could mend.
    pub(super) fn add(&mut self, evidence: Evidence<'_>, key: RecipeKey) {
        let Evidence { code, loc, what, dtype } = evidence;
        let (span, scope) = (self.locs.span(loc), self.locs.scope(loc));
        let place = Place { code: code.id, span, what: None };
        let draft = self.drafts.entry(place).or_insert_with(|| Draft {
            code,
            what: IndexSet::new(),
            dtype,
            scopes: IndexMap::new(),
            places: 0,
            mend: self.precision.map(|precision| mend(precision, key, Subject::Inst(what, &scope))),
        });
        draft.what.insert(what.to_owned());
        draft.places += 1;
        if !scope.is_empty() {
            let only = draft.scopes.entry(family(&scope)).or_insert_with(|| Some(scope.clone()));
            *only = only.take().filter(|only| *only == scope);
        }
    }

    /// Adds a finding that is about `what` and not about an instruction.
    pub(super) fn add_finding(&mut self, what: &str, finding: Diagnostic) {
        let place = Place { code: finding.code().id, span: None, what: Some(what.to_owned()) };
        self.audit.findings.insert(place, finding);
    }

    pub(super) fn finish(mut self) -> Audit {
        for (place, draft) in self.drafts {
            let span = place.span;
            self.audit.findings.insert(place, draft.finding(span));
        }
        self.audit.findings.sort_by(|a, _, b, _| (a.code, a.span, &a.what).cmp(&(b.code, b.span, &b.what)));
        self.audit
    }
}

impl Draft {
    fn finding(self, span: Option<Span>) -> Diagnostic {
        let places =
            if self.places == 1 { "1 instruction".to_owned() } else { format!("{} instructions", self.places) };
        let mut finding =
            Diagnostic::warning(self.code, format!("{} in `{}` instead of `{ENOUGH}`", self.claim(), self.dtype));
        finding = finding.or_at(span, &places);
        let counted = if span.is_some() { String::new() } else { format!("{places} ") };
        let shown: Vec<_> = self
            .scopes
            .iter()
            .take(MAX_SCOPES)
            .map(|(family, only)| format!("`{}`", only.as_ref().unwrap_or(family)))
            .collect();
        if !shown.is_empty() {
            let more = self.scopes.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            finding = finding.note(format!("{counted}in {}{more}", shown.join(", ")));
        }
        match self.mend {
            Some(Mend { path, help }) => finding.key(path).help(help),
            None => finding,
        }
    }

    /// What is done by whom.
    fn claim(&self) -> String {
        let names: Vec<_> = self.what.iter().map(|what| format!("`{what}`")).collect();
        let (names, many) = (names.join(", "), self.what.len() > 1);
        let verb = |one: &'static str, several: &'static str| if many { several } else { one };
        match self.code {
            codes::ACCUMULATE_NARROW => format!("{names} {}", verb("accumulates", "accumulate")),
            codes::GRADIENT_NARROW => format!("{names} {} gradients", verb("gives", "give")),
            codes::LOSS_NARROW => format!("{names} {} computed", verb("is", "are")),
            _ => format!("{names} {}", verb("computes", "compute")),
        }
    }
}
