//! The state of reading a module, with the diagnostics so far.

use super::literal::Literal;
use crate::ops::Op;
use crate::registry::Registry;
use crate::syntax::{FuncId, Module};
use halite_support::{Diagnostic, Diagnostics, Name, Result, Span, codes};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The primitives by name, with default attributes.
pub(super) static PRIMITIVES: LazyLock<FxHashMap<String, Op>> =
    LazyLock::new(|| Op::primitives().into_iter().map(|op| (op.name().to_owned(), op)).collect());

/// Reading stops after this many diagnostics.
const MAX_ERRORS: usize = 64;

/// A function that was read: `None` when it has errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) id: Option<FuncId>,
    /// The place of its name.
    pub(super) span: Span,
}

/// The state of reading a text.
#[derive(Debug)]
pub(super) struct Reader<'r, 't> {
    /// The module so far.
    pub(super) module: Module,
    /// Known composites.
    pub(super) registry: &'r Registry,
    /// Functions read so far.
    pub(super) functions: FxHashMap<Name, Known>,
    /// Resources of the whole text; `None` when their bytes are wrong.
    pub(super) resources: FxHashMap<Cow<'t, str>, Option<Vec<u8>>>,
    /// The diagnostics so far.
    pub(super) diagnostics: Diagnostics,
}

impl<'r, 't> Reader<'r, 't> {
    /// Nothing read yet.
    pub(super) fn new(registry: &'r Registry) -> Self {
        Self {
            module: Module::default(),
            registry,
            functions: FxHashMap::default(),
            resources: FxHashMap::default(),
            diagnostics: Diagnostics::new(),
        }
    }

    /// Keeps a diagnostic; `span` is its place if it has none.
    pub(super) fn report(&mut self, diagnostic: Diagnostic, span: Span) {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic.or_at(Some(span), ""));
        }
    }

    /// Keeps the diagnostic of a failure.
    pub(super) fn check<T>(&mut self, outcome: Result<T>, span: Span) -> Option<T> {
        outcome.map_err(|diagnostic| self.report(diagnostic, span)).ok()
    }

    /// Whether further diagnostics are dropped.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MAX_ERRORS
    }

    /// Number of complaints so far.
    pub(super) fn num_errors(&self) -> usize {
        self.diagnostics.len()
    }

    /// The bytes of a resource; `None` when they are wrong, which is reported already.
    ///
    /// # Errors
    /// When there is none of this name.
    pub(super) fn resource(&self, name: &str) -> Result<Option<Literal<'_>>> {
        let unknown = || Diagnostic::error(codes::UNDEFINED_VALUE, format!("resource `@{name}` is not defined"));
        let bytes = self.resources.get(name).ok_or_else(|| unknown().help("resources stand after the functions"))?;
        Ok(bytes.as_deref().map(Literal::Bytes))
    }
}
