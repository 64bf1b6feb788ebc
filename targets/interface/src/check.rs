//! Results of checking modules against the rules of a target.

use halite_support::{Diagnostic, Diagnostics};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The result of checking one module against the rules of a target.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModuleCheck {
    /// Rules that are broken; equal ones of different layers as one.
    pub findings: Vec<Repeated>,
    /// Names of the rules that are broken and that the recipe allows.
    pub allowed: BTreeSet<String>,
    /// Opcodes that no document lists and that the target is presumed to take.
    pub presumed: BTreeSet<String>,
}

/// An error or warning, and how often a module gives cause for it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Repeated {
    /// The error or warning.
    pub finding: Diagnostic,
    /// The number of times.
    pub times: usize,
}

impl Repeated {
    /// An error or warning that a module gives cause for so many times.
    pub fn new(finding: Diagnostic, times: usize) -> Self {
        Self { finding, times }
    }
}

/// Joins the findings of all modules of a bundle: equal findings once, however often they are found, errors first.
pub fn join<'a>(checks: impl IntoIterator<Item = &'a ModuleCheck>) -> Diagnostics {
    let mut found = Vec::<Repeated>::new();
    for repeated in checks.into_iter().flat_map(|check| &check.findings) {
        match found.iter_mut().find(|own| own.finding == repeated.finding) {
            Some(own) => own.times = own.times.max(repeated.times),
            None => found.push(repeated.clone()),
        }
    }
    let counted = |Repeated { finding, times }| match times {
        1 => finding,
        _ => finding.note(format!("found {times} times in one module")),
    };
    let mut all: Diagnostics = found.into_iter().map(counted).collect();
    all.sort_by_key(|finding| Reverse(finding.severity()));
    all
}
