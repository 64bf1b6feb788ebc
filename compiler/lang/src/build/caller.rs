//! Call sites of builders.

use halite_support::{Name, Span};
use std::panic::Location;

/// A call site of a builder: a line of a program. Instructions and mistakes name it by its file without folders, so that a model gives
/// the same bytes wherever it is built.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Caller(At);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum At {
    Rust(&'static Location<'static>),
    Line(Name, u32, Option<Span>),
}

impl Caller {
    /// A line, counted from 1, of a program in another language. `file` is its file's name without folders, `span` the line
    /// where the text of the file is at hand: mistakes then point there.
    pub fn line_of(file: Name, line: u32, span: Option<Span>) -> Self {
        Self(At::Line(file, line, span))
    }

    pub(super) fn file(&self) -> Name {
        match &self.0 {
            At::Rust(location) => location.file().rsplit(['/', '\\']).next().unwrap_or_default().into(),
            At::Line(file, _, _) => file.clone(),
        }
    }

    pub(super) fn line(&self) -> u32 {
        match &self.0 {
            At::Rust(location) => location.line(),
            At::Line(_, line, _) => *line,
        }
    }

    /// The line in a text at hand.
    pub(super) fn span(&self) -> Option<Span> {
        if let At::Line(_, _, span) = self.0 { span } else { None }
    }

    /// `model.rs:12`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file(), self.line())
    }
}

impl From<&'static Location<'static>> for Caller {
    fn from(location: &'static Location<'static>) -> Self {
        Self(At::Rust(location))
    }
}
