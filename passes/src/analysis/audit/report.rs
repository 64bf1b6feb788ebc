//! Gathering evidence into findings.

use super::ENOUGH;
use super::demand::Demand;
use super::fix::{Fix, RecipeKey, fix};
use super::result::{Audit, Checked, Finding, FindingKey};
use crate::framework::calls::Calls;
use crate::framework::exception::Subject;
use halite_ir::paths::family;
use halite_ir::paths::nested;
use halite_ir::{FuncId, LocId, LocTable, Module};
use halite_recipe::Precision;
use halite_support::{Code, Diagnostic, Span, codes};
use halite_tensor::DType;
use indexmap::{IndexMap, IndexSet};

/// The most scopes that a finding names.
const MAX_SCOPES: usize = 4;

/// An instruction that does something in too narrow a type.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) code: Code,
    /// The instruction.
    pub(super) loc: LocId,
    /// The op, or the part of the training step that it is about.
    pub(super) what: &'a str,
    pub(super) op: &'a str,
    pub(super) dtype: DType,
}

/// The evidence of one finding so far.
struct Draft {
    code: Code,
    what: IndexSet<String>,
    dtype: DType,
    /// Families of scopes; one that has a single member so far, with that.
    scopes: IndexMap<String, Option<String>>,
    places: usize,
    /// Whether it is about sums over ranks.
    reduces: bool,
    fix: Option<Fix>,
    narrow: IndexSet<String>,
}

/// Findings in the making.
pub(super) struct Report<'a> {
    locs: &'a LocTable,
    calls: Calls<'a>,
    precision: Option<&'a Precision>,
    drafts: IndexMap<FindingKey, Draft>,
    audit: Audit,
}

impl<'a> Report<'a> {
    pub(super) fn new(module: &'a Module, precision: Option<&'a Precision>) -> Self {
        Self {
            locs: &module.locs,
            calls: Calls::new(module),
            precision,
            drafts: IndexMap::new(),
            audit: Audit::default(),
        }
    }

    pub(super) fn checked(&mut self) -> &mut Checked {
        &mut self.audit.checked
    }

    /// Counts an instruction of a function that was looked at.
    pub(super) fn count(&mut self, function: FuncId, demand: Demand) {
        let times = self.calls.times(function);
        let checked = self.checked();
        let count = match demand {
            Demand::Sensitive => &mut checked.sensitive,
            Demand::Sum => &mut checked.sums,
            Demand::Gradient | Demand::Reduce => &mut checked.gradients,
        };
        *count = count.saturating_add(times);
    }

    /// The scopes in which a function is called, each with how often it runs there.
    pub(super) fn scopes(&self, function: FuncId) -> IndexMap<String, usize> {
        self.calls.scopes(function).clone()
    }

    /// Adds evidence in a function that an entry of the recipe could fix, at each of its calls; `narrow` are the primitives
    /// that later modules show.
    pub(super) fn add(&mut self, function: FuncId, evidence: Evidence<'_>, key: RecipeKey, narrow: &[String]) {
        for (scope, times) in self.scopes(function) {
            self.add_in(&scope, times, evidence, key, narrow);
        }
    }

    /// Adds evidence that is in a function as called in one scope, which runs so often there.
    pub(super) fn add_in(
        &mut self,
        outer: &str,
        times: usize,
        evidence: Evidence<'_>,
        key: RecipeKey,
        narrow: &[String],
    ) {
        let Evidence { code, loc, what, op, dtype } = evidence;
        let (span, scope) = (self.locs.span(loc), nested(outer, self.locs.scope(loc)));
        let fix = self.precision.map(|precision| fix(precision, key, Subject::Inst(op, &scope)));
        let entry = fix.as_ref().map(|fix| fix.path.clone());
        let finding_key = FindingKey { code: code.id, span, what: None, dtype: dtype.name(), entry };
        let draft = self.drafts.entry(finding_key).or_insert_with(|| Draft {
            code,
            what: IndexSet::new(),
            dtype,
            scopes: IndexMap::new(),
            places: 0,
            reduces: key.is_reduce(),
            fix,
            narrow: IndexSet::new(),
        });
        draft.narrow.extend(narrow.iter().cloned());
        draft.what.insert(what.to_owned());
        draft.places = draft.places.saturating_add(times);
        if !scope.is_empty() {
            let only = draft.scopes.entry(family(&scope)).or_insert_with(|| Some(scope.clone()));
            *only = only.take().filter(|only| *only == scope);
        }
    }

    /// Adds a finding that is about `what` of some parameters and not about an instruction.
    pub(super) fn add_finding(&mut self, what: &str, dtype: DType, parameters: &[&str], diagnostic: Diagnostic) {
        let (code, entry) = (diagnostic.code().id, diagnostic.recipe_key().map(str::to_owned));
        let finding_key = FindingKey { code, span: None, what: Some(what.to_owned()), dtype: dtype.name(), entry };
        let narrow = parameters.iter().map(|&name| name.to_owned()).collect();
        self.audit.findings.insert(finding_key, Finding { diagnostic, narrow, is_stated_reduce: false });
    }

    pub(super) fn finish(mut self) -> Audit {
        for (finding_key, draft) in self.drafts {
            let span = finding_key.span;
            self.audit.findings.insert(finding_key, draft.finding(span));
        }
        self.audit.findings.sort_keys();
        self.audit
    }
}

impl Draft {
    fn finding(self, span: Option<Span>) -> Finding {
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
        let is_stated = self.fix.as_ref().and_then(|fix| fix.stated).is_some_and(DType::is_narrow);
        let is_stated_reduce = self.reduces && is_stated;
        if let Some(Fix { path, help, .. }) = self.fix {
            finding = finding.key(path).help(help);
        }
        Finding { diagnostic: finding, narrow: self.narrow, is_stated_reduce }
    }

    /// The claim of the message: the ops and the verb.
    fn claim(&self) -> String {
        let names: Vec<_> = self.what.iter().map(|what| format!("`{what}`")).collect();
        let (names, many) = (names.join(", "), self.what.len() > 1);
        let verb = |one: &'static str, several: &'static str| if many { several } else { one };
        match self.code {
            codes::ACCUMULATE_NARROW => format!("{names} {}", verb("accumulates", "accumulate")),
            codes::GRADIENT_NARROW if self.reduces => format!("{names} {} over ranks", verb("sums", "sum")),
            codes::GRADIENT_NARROW => format!("{names} {} gradients", verb("gives", "give")),
            codes::LOSS_NARROW => format!("{names} {} computed", verb("is", "are")),
            _ => format!("{names} {}", verb("computes", "compute")),
        }
    }
}
