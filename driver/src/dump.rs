//! Intermediate modules as text files.

use halite_bundle::ModuleRole;
use halite_ir::Module;
use halite_passes::{Dump, DumpPoint, PassReport};
use halite_support::{Diagnostic, Result, codes, nearest};
use indexmap::IndexMap;

/// A filter of the intermediate modules to keep.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DumpFilter {
    /// A pass name in which `*` matches any text.
    pub passes: String,
}

impl DumpFilter {
    /// The modules before and after each run of the passes of this name, in which `*` matches any text.
    pub fn new(passes: impl Into<String>) -> Self {
        Self { passes: passes.into() }
    }

    /// Checks that the filter takes a pass that ran: a name that matches nothing would silently show nothing.
    ///
    /// # Errors
    /// When it takes none.
    pub(crate) fn check(&self, reports: &[(ModuleRole, Vec<PassReport>)]) -> Result<()> {
        let mut names: Vec<&str> =
            reports.iter().flat_map(|(_, reports)| reports).map(|report| &*report.name).collect();
        if names.iter().any(|name| self.takes(name)) {
            return Ok(());
        }
        names.sort_unstable();
        names.dedup();
        Err(Diagnostic::error(codes::PATTERN, format!("no pass that ran matches `{}`", self.passes))
            .help(nearest::suggestion(&self.passes, &names)))
    }

    fn takes(&self, pass: &str) -> bool {
        halite_passes::matches_pattern(&self.passes, pass)
    }
}

/// Collects the modules around the passes that a filter takes, as `<module>.<NN>-<pass>.<before|after>.ir`.
#[derive(Debug)]
pub(crate) struct Dumper<'a> {
    module: String,
    filter: Option<&'a DumpFilter>,
    files: IndexMap<String, String>,
}

impl<'a> Dumper<'a> {
    pub(crate) fn new(module: impl Into<String>, filter: Option<&'a DumpFilter>) -> Self {
        Self { module: module.into(), filter, files: IndexMap::new() }
    }

    pub(crate) fn into_files(self) -> IndexMap<String, String> {
        self.files
    }
}

impl Dump for Dumper<'_> {
    fn dump(&mut self, index: usize, pass: &str, point: DumpPoint, module: &Module) {
        if !self.filter.is_some_and(|filter| filter.takes(pass)) {
            return;
        }
        let name = format!("{}.{index:02}-{pass}.{}.ir", self.module, point.name());
        self.files.insert(name, halite_ir::text::print(module));
    }
}
