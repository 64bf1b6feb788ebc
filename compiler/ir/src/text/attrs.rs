//! Attributes of instructions, printed and read through one visitor each.

use super::literal::Literal;
use super::numbers::{parse_element, parse_real, print_elements, print_real};
use super::quoted::{parse_name, print_name, print_string};
use super::reader::Known;
use super::syntax::{AttrText, Field};
use crate::attr::{Attr, AttrSlot, AttrVisitor, Real, ResultSlot};
use crate::syntax::{Function, Rounding};
use crate::ty::TensorType;
use halite_support::{Diagnostic, Name, Result, Span, codes};
use halite_tensor::{HostTensor, Shape};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::Arc;

/// Large constants in the order of their first use.
pub(super) type Resources = IndexSet<Arc<HostTensor>>;

/// Prints the attributes of one instruction: `literal` is the elements of a constant, `fields` all others.
#[derive(Debug)]
pub(super) struct AttrPrinter<'a> {
    functions: &'a [Function],
    resources: &'a mut Resources,
    pub(super) literal: String,
    pub(super) fields: String,
}

impl<'a> AttrPrinter<'a> {
    /// Nothing printed yet.
    pub(super) fn new(functions: &'a [Function], resources: &'a mut Resources) -> Self {
        Self { functions, resources, literal: String::new(), fields: String::new() }
    }

    /// Adds `name = value`.
    pub(super) fn field(&mut self, name: &str, value: &str) {
        let separator = if self.fields.is_empty() { "" } else { ", " };
        write!(self.fields, "{separator}{name} = {value}").expect("a string takes any text");
    }

    fn print_tensor(&mut self, tensor: Arc<HostTensor>) -> String {
        if tensor.shape().rank() == 0 || tensor.len() <= super::MAX_INLINE_ELEMENTS {
            return print_elements(&tensor);
        }
        format!("@r{}", self.resources.insert_full(tensor).0)
    }
}

impl AttrVisitor for AttrPrinter<'_> {
    fn attr(&mut self, name: &str, slot: &mut dyn AttrSlot) {
        let value = match slot.get() {
            Attr::Tensor(tensor) => {
                self.literal = self.print_tensor(tensor);
                return;
            }
            Attr::Func(id) => match self.functions.get(id.index()) {
                Some(function) => format!("@{}", print_name(&function.name)),
                None => format!("@?{}", id.index()),
            },
            attr => print_attr(&attr),
        };
        self.field(name, &value);
    }

    fn refinement(&mut self, name: &str, slot: &mut dyn AttrSlot, implied: &Attr) {
        if slot.get() != *implied {
            self.attr(name, slot);
        }
    }

    fn result(&mut self, _: usize, _: ResultSlot<'_>) {}
}

/// Reads a rounding as it is displayed.
///
/// # Errors
/// On anything else.
pub(super) fn parse_rounding(field: &Field<'_>) -> Result<Rounding> {
    match &field.value {
        Some(AttrText::Word("rne")) => Ok(Rounding::Nearest),
        Some(AttrText::Word("sr")) => Ok(Rounding::Switched),
        Some(AttrText::Applied("sr", stream)) if stream.starts_with('"') => {
            Ok(Rounding::Stochastic(Name::from(&*parse_name(stream))))
        }
        _ => {
            let message = format!("a rounding is `rne`, `sr(\"stream\")` or `sr`, found `{}`", field.text);
            Err(Diagnostic::error(codes::ATTRIBUTE, message).at(field.span, ""))
        }
    }
}

fn print_attr(attr: &Attr) -> String {
    match attr {
        Attr::Int(value) => value.to_string(),
        Attr::Real(value) => print_real(value.0),
        Attr::Bool(value) => value.to_string(),
        Attr::Word(word) if is_word(word) => word.to_string(),
        Attr::Word(word) => print_string(word),
        Attr::Ints(list) => format!("{list:?}"),
        Attr::Pair(left, right) => format!("{left:?} x {right:?}"),
        Attr::Groups(groups) => groups.to_string(),
        Attr::Func(_) | Attr::Tensor(_) => String::new(),
    }
}

/// Whether a word reads back as one without quotes.
fn is_word(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    starts && rest && !matches!(word, "true" | "false" | "inf" | "nan")
}

/// Sets the attributes of one instruction from text; the first complaint is kept.
#[derive(Debug)]
pub(super) struct AttrReader<'a, 't> {
    /// The name of the op, for messages.
    pub(super) op: &'a str,
    /// The place of the instruction.
    pub(super) span: Span,
    /// The attributes in `{..}` that no reader has taken yet.
    pub(super) fields: Vec<Field<'t>>,
    /// The elements after the op's name.
    pub(super) literal: Option<Literal<'a>>,
    /// The stated types of the results.
    pub(super) types: &'a [TensorType],
    /// Functions that may be named.
    pub(super) functions: &'a FxHashMap<Name, Known>,
    /// The names that the op asked for.
    pub(super) known: Vec<String>,
    /// The first error.
    pub(super) error: Option<Diagnostic>,
}

impl AttrReader<'_, '_> {
    /// Reports attributes that the op did not read.
    ///
    /// # Errors
    /// The first error.
    pub(super) fn finish(self) -> Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let op = self.op;
        if let Some(field) = self.fields.first() {
            let known: Vec<_> = self.known.iter().map(|name| format!("`{name}`")).collect();
            let takes = if known.is_empty() { "no attributes".to_owned() } else { known.join(", ") };
            let (message, span) = (format!("`{op}` has no attribute `{}`", field.name), field.span);
            return Err(Diagnostic::error(codes::ATTRIBUTE, message).at(span, "").help(format!("it takes {takes}")));
        }
        if self.literal.is_some() {
            return Err(Diagnostic::error(codes::SYNTAX, format!("`{op}` takes no elements")).at(self.span, ""));
        }
        Ok(())
    }

    fn fail(&mut self, error: Diagnostic) {
        self.error.get_or_insert(error);
    }

    fn read_literal(&mut self) -> Result<Attr> {
        let error = |message: String| Diagnostic::error(codes::ATTRIBUTE, message).at(self.span, "");
        let Some(literal) = &self.literal else {
            return Err(error(format!("`{}` needs its elements after its name", self.op))
                .help("write e.g. `constant 1.0 : f32[4]`"));
        };
        let Some(ty) = self.types.first() else { return Err(missing_type(self.op, self.span)) };
        let mut bytes = Vec::new();
        let elements = match literal {
            Literal::Splat(text) => std::slice::from_ref(text),
            Literal::Listed(list) => list.as_slice(),
            Literal::Bytes(raw) => {
                bytes.extend_from_slice(raw);
                &[]
            }
        };
        for text in elements {
            let help = || format!("write an element of `{}`, or state another type", ty.dtype());
            let refused = || error(format!("`{text}` is not an element of `{ty}`")).help(help());
            parse_element(ty.dtype(), text, &mut bytes).ok_or_else(refused)?;
        }
        let shape = if matches!(literal, Literal::Splat(_)) { Shape::scalar() } else { ty.shape().clone() };
        let tensor = HostTensor::from_bytes(ty.dtype(), shape, bytes).map_err(|mismatch| {
            let size = ty.dtype().size();
            let (expected, found) = (mismatch.expected / size, mismatch.found / size);
            error(format!("`{ty}` has {expected} elements, found {found}"))
                .help(format!("write one element for all or {expected} in a list, or state another shape"))
        })?;
        Ok(Attr::Tensor(Arc::new(tensor)))
    }
}

impl AttrVisitor for AttrReader<'_, '_> {
    fn attr(&mut self, name: &str, slot: &mut dyn AttrSlot) {
        if matches!(slot.get(), Attr::Tensor(_)) {
            let outcome = self.read_literal();
            self.literal = None;
            match outcome {
                Ok(attr) => slot.set(&attr).unwrap_or_default(),
                Err(error) => self.fail(error),
            }
            return;
        }
        self.known.push(name.to_owned());
        let Some(position) = self.fields.iter().position(|field| field.name == name) else { return };
        let field = self.fields.remove(position);
        match to_attr(&field, self.functions) {
            Ok(attr) => {
                if let Err(expected) = slot.set(&attr) {
                    let message = format!("`{name}` of `{}` is {expected}, found `{}`", self.op, field.text);
                    self.fail(Diagnostic::error(codes::ATTRIBUTE, message).at(field.span, ""));
                }
            }
            Err(error) => self.fail(error),
        }
    }

    fn result(&mut self, index: usize, slot: ResultSlot<'_>) {
        let Some(ty) = self.types.get(index) else {
            return self.fail(missing_type(self.op, self.span));
        };
        match slot {
            ResultSlot::DType(dtype) => *dtype = ty.dtype(),
            ResultSlot::Shape(shape) => *shape = ty.shape().clone(),
            ResultSlot::Type(own) => *own = ty.clone(),
        }
    }
}

/// A complaint about types that are not stated.
pub(super) fn missing_type(op: &str, span: Span) -> Diagnostic {
    let message = format!("`{op}` needs the type of each result");
    Diagnostic::error(codes::SYNTAX, message).at(span, "").help("add e.g. `: f32[4,8]` at the end of the line")
}

/// The attribute that a field writes.
///
/// # Errors
/// When it has no value, names an unknown function, or is no attribute of an instruction.
pub(super) fn to_attr(field: &Field<'_>, functions: &FxHashMap<Name, Known>) -> Result<Attr> {
    let error = |code, message: String| Diagnostic::error(code, message).at(field.span, "");
    let Some(value) = &field.value else {
        let message = format!("attribute `{}` has no value", field.name);
        return Err(error(codes::ATTRIBUTE, message).help(format!("write `{} = ..`", field.name)));
    };
    Ok(match value {
        AttrText::Element("true") => Attr::Bool(true),
        AttrText::Element("false") => Attr::Bool(false),
        AttrText::Element(text) => {
            let int = || text.parse().ok().map(Attr::Int);
            let real = || parse_real(text).map(|value| Attr::Real(Real(value)));
            let is_int = !text.contains(|c: char| !(c.is_ascii_digit() || c == '-'));
            let attr = if is_int { int() } else { real() };
            attr.ok_or_else(|| error(codes::ATTRIBUTE, format!("the number `{text}` is out of range")))?
        }
        AttrText::Word(word) => Attr::Word((*word).into()),
        AttrText::Text(text) => Attr::Word(text.as_str().into()),
        AttrText::Ints(list) => Attr::Ints(list.as_slice().into()),
        AttrText::Pair(left, right) => Attr::Pair(left.as_slice().into(), right.as_slice().into()),
        AttrText::Groups(groups) => {
            let wrong = || error(codes::ATTRIBUTE, format!("`{}` are no groups of ranks", field.text));
            let help = "list the ranks of each group, `[[0, 1], [2, 3]]`, or write `[groups,size]<=[dims]T(order)`";
            Attr::Groups(groups.clone().ok_or_else(|| wrong().help(help))?)
        }
        AttrText::Func(name) => {
            let known = functions.get(name.as_str()).and_then(|known| known.id);
            let unknown = || error(codes::UNDEFINED_VALUE, format!("no function `@{name}` is defined before this one"));
            Attr::Func(known.ok_or_else(unknown)?)
        }
        AttrText::Applied(..) | AttrText::Parts(_) | AttrText::Texts(_) | AttrText::Dims(_) => {
            return Err(error(codes::ATTRIBUTE, format!("`{}` is no attribute of an instruction", field.text)));
        }
    })
}
