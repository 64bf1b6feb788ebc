//! The places of the parts of an operation.

use halite_ir::Builder;
use halite_support::{Diagnostic, Span};
use std::fmt;

/// A part of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// The name that is called.
    Function,
    /// The keyword of an argument, arguments counted as they are given.
    Keyword(usize),
    /// An argument or operand, counted as they are given.
    Given(usize),
    /// An item of an argument that is a list.
    Item(usize, usize),
}

/// The places of an operation's parts. A model text has places; a model built in Rust has none here.
pub(crate) trait Spans: fmt::Debug {
    /// The place of a part.
    fn span(&self, part: Part) -> Option<Span>;

    /// Adds the values of the names in a part to an error about it.
    fn blame(&self, _b: &Builder<'_>, error: Diagnostic, _part: Part) -> Diagnostic {
        error
    }
}

/// Every part stands at this place.
impl Spans for Span {
    fn span(&self, _: Part) -> Option<Span> {
        Some(*self)
    }
}

/// No part has a place.
impl Spans for () {
    fn span(&self, _: Part) -> Option<Span> {
        None
    }
}

/// A part of an operation, with the places of the operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'s> {
    spans: &'s dyn Spans,
    part: Part,
}

impl<'s> Place<'s> {
    pub(crate) fn new(spans: &'s dyn Spans, part: Part) -> Self {
        Self { spans, part }
    }

    /// The whole operation.
    pub(crate) fn whole(spans: &'s dyn Spans) -> Self {
        Self::new(spans, Part::Whole)
    }

    /// Its place in a text.
    pub(crate) fn span(self) -> Option<Span> {
        self.spans.span(self.part)
    }

    /// An item of this argument.
    pub(super) fn item(self, index: usize) -> Self {
        match self.part {
            Part::Given(at) => Self { part: Part::Item(at, index), ..self },
            _ => self,
        }
    }

    /// Points an error that points nowhere yet at this place.
    pub(crate) fn mark(self, error: Diagnostic, label: impl Into<String>) -> Diagnostic {
        error.or_at(self.span(), label)
    }

    /// Adds to an error what the names at this place stand for.
    pub(super) fn blame(self, b: &Builder<'_>, error: Diagnostic) -> Diagnostic {
        self.spans.blame(b, error, self.part)
    }
}
