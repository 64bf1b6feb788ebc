//! Attributes of operations.

use super::string::unescaped;
use super::types::TypeId;
use halite_support::Cursor;

/// The value of an attribute. What only some operations understand is kept as its place in the text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value<'t> {
    /// Present, without more to say.
    Unit,
    Bool(bool),
    Int(i64),
    /// A number with a fraction, as it is written.
    Float(&'t str),
    /// A string as it is written, without its quotes.
    Text(&'t str),
    /// `@name`.
    Symbol(String),
    /// `array<i64: 1, 2>`.
    Ints(Vec<i64>),
    List(Vec<Attribute<'t>>),
    Dictionary(Attributes<'t>),
    /// `dense<..> : tensor<..>`: the place of the elements, and their type.
    Dense((usize, usize), TypeId),
    /// `dense_resource<name> : tensor<..>`.
    Resource(&'t str, TypeId),
    /// `#stablehlo.gather<..>` and `#stablehlo<precision HIGH>`: what is between the marks.
    Dialect(&'t str, (usize, usize)),
    /// `[1] x [0]`, as dimensions of two operands are written in short.
    Pairs(Vec<i64>, Vec<i64>),
    /// A type or a word.
    Other(&'t str),
}

/// An attribute with its place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Attribute<'t> {
    pub(crate) value: Value<'t>,
    pub(crate) place: (usize, usize),
}

/// Attributes by their names, in the order of the text.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Attributes<'t>(pub(crate) Vec<(&'t str, Attribute<'t>)>);

impl<'t> Attributes<'t> {
    /// Takes an attribute out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Attribute<'t>> {
        let at = self.0.iter().position(|(own, _)| *own == name)?;
        Some(self.0.remove(at).1)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Attribute<'t>> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub(crate) fn push(&mut self, name: &'t str, attribute: Attribute<'t>) {
        // Most have one, and those of arguments are kept up to the end of the text.
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.push((name, attribute));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Attribute<'_> {
    /// The string, if it is one.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.value {
            Value::Text(raw) => Some(unescaped(raw)),
            _ => None,
        }
    }

    /// The attribute as it is written.
    pub(crate) fn written<'t>(&self, cursor: &Cursor<'t>) -> &'t str {
        cursor.slice(self.place.0, self.place.1).trim_end()
    }
}
