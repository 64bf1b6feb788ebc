//! The places of the parts of operations in a model text.

use super::Locals;
use crate::ast::{Call, Expr, ExprKind};
use crate::ops::{Part, Spans};
use crate::options::{Options, Override};
use crate::resolve::Program;
use halite_ir::Builder;
use halite_support::{Diagnostic, Span};

/// The values of names outside functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Globals<'a> {
    pub(super) values: &'a Locals,
    pub(super) overrides: &'a [Override],
}

impl<'a> Globals<'a> {
    /// Those of a program; only a model has settings.
    pub(super) fn of(program: &Program<'_>, values: &'a [Locals], options: &'a Options) -> Self {
        let overrides = if program.model.is_library { &[] } else { options.overrides.as_slice() };
        Self { values: &values[program.home], overrides }
    }
}

/// An operation in a model text.
#[derive(Debug)]
pub(super) struct Text<'a> {
    /// Its place.
    pub(super) whole: Span,
    /// Its operands or arguments.
    pub(super) parts: Vec<&'a Expr>,
    /// The call that it is.
    pub(super) call: Option<&'a Call>,
    /// The values that names in it may have.
    pub(super) globals: Globals<'a>,
}

impl Text<'_> {
    fn part(&self, part: Part) -> Option<&Expr> {
        match part {
            Part::Given(at) => self.parts.get(at).copied(),
            Part::Item(at, index) => match self.parts.get(at).map(|part| &part.kind) {
                Some(ExprKind::List(items)) => items.get(index),
                _ => self.parts.get(at).copied(),
            },
            Part::Whole | Part::Function | Part::Keyword(_) => None,
        }
    }
}

impl Spans for Text<'_> {
    fn span(&self, part: Part) -> Option<Span> {
        let named = match part {
            Part::Function => self.call.map(|call| call.function.span),
            Part::Keyword(at) => {
                self.call.and_then(|call| call.given.get(at)?.name.as_ref()).map(|keyword| keyword.span)
            }
            Part::Whole | Part::Given(_) | Part::Item(..) => self.part(part).map(|part| part.span),
        };
        Some(named.unwrap_or(self.whole))
    }

    fn blame(&self, b: &Builder<'_>, error: Diagnostic, part: Part) -> Diagnostic {
        match self.part(part) {
            Some(part) => blame(self.globals, b, error, part),
            None => error,
        }
    }
}

/// Says what the globals in an expression are: where they are set if that has a place, which then is the main one.
pub(super) fn blame(globals: Globals<'_>, b: &Builder<'_>, mut error: Diagnostic, expr: &Expr) -> Diagnostic {
    let mut names = Vec::new();
    names_in(expr, &mut names);
    for name in names {
        let Some(Ok(value)) = globals.values.get(name) else { continue };
        let known = format!("`{name}` is {}", value.describe(b));
        let setting = globals.overrides.iter().rev().find(|setting| setting.key == name);
        error = match (setting.and_then(|setting| setting.span), error.primary()) {
            (Some(span), None) => error.at(span, known),
            (Some(span), Some(_)) => error.also(span, known),
            (None, _) => error.note(known),
        };
    }
    error
}

/// Each name in an expression once, in source order.
fn names_in<'e>(expr: &'e Expr, names: &mut Vec<&'e str>) {
    if let ExprKind::Name(name) = &expr.kind
        && !names.contains(&&**name)
    {
        names.push(name);
    }
    expr.kind.for_each_part(|part| names_in(part, names));
}
