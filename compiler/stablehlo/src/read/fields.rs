//! Attributes as what operations need: numbers, words and lists of dimensions.

use super::attribute::{Attribute, Value};
use super::dense::{Elements, elements};
use super::op::Op;
use super::reader::Reader;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;

/// The most numbers of an attribute, so that one that stands for all makes no long list.
const NUMBERS: usize = 1 << 24;

impl<'t> Reader<'t> {
    /// The fault that an attribute is not as it must be.
    pub(crate) fn misfit(&self, attribute: &Attribute<'t>, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found `{}`", attribute.written(&self.cursor));
        Diagnostic::error(codes::ATTRIBUTE, message).at(self.cursor.span(attribute.place), "this attribute")
    }

    /// The fault of an operation.
    pub(crate) fn fault_of(&self, op: &Op<'t>, code: halite_support::Code, reason: &str) -> Diagnostic {
        let place = self.cursor.span(op.place.bytes());
        Diagnostic::error(code, format!("`{}` {reason}", op.name)).at(place, "this operation")
    }

    /// A list of numbers, however it is written.
    pub(crate) fn ints(&self, attribute: &Attribute<'t>) -> Result<Vec<i64>> {
        let numbers = match &attribute.value {
            Value::Ints(numbers) => Some(numbers.clone()),
            Value::List(list) => list.iter().map(number).collect(),
            Value::Dense(..) => self.rows(attribute)?.map(|rows| rows.concat()),
            _ => None,
        };
        numbers.ok_or_else(|| self.misfit(attribute, "a list of numbers"))
    }

    /// Numbers in rows; a list is one row. `None` where they are none.
    fn rows(&self, attribute: &Attribute<'t>) -> Result<Option<Vec<Vec<i64>>>> {
        if let Value::List(rows) = &attribute.value {
            return rows.iter().map(|row| self.ints(row)).collect::<Result<Vec<_>>>().map(Some);
        }
        let Value::Dense(body, ty) = attribute.value else { return Ok(None) };
        let ty = self.types.array(ty);
        let count = ty.num_elements().filter(|&count| count <= NUMBERS);
        let (Some(count), false) = (count, ty.dtype.is_float()) else { return Ok(None) };
        let wide =
            |bytes: &[u8]| bytes.chunks(ty.dtype.size()).map(|bytes| whole(bytes, ty.dtype)).collect::<Vec<i64>>();
        let numbers = match elements(&self.cursor, body, ty)? {
            Elements::All(bytes) => wide(&bytes),
            Elements::Splat(bytes) => wide(&bytes).repeat(count),
        };
        let width = ty.shape.last().copied().unwrap_or(1).max(1);
        Ok(Some(numbers.chunks(width).map(<[i64]>::to_vec).collect()))
    }

    /// A table of numbers.
    pub(crate) fn table(&self, attribute: &Attribute<'t>) -> Result<Vec<Vec<i64>>> {
        self.rows(attribute)?.ok_or_else(|| self.misfit(attribute, "a table of whole numbers"))
    }

    /// The numbers of an attribute under one of its names; `None` where it is missing.
    pub(crate) fn maybe_list(&self, op: &mut Op<'t>, names: [&str; 2]) -> Result<Option<Vec<i64>>> {
        op.take(names).map(|attribute| self.ints(&attribute)).transpose()
    }

    /// The numbers of an attribute that must be there.
    pub(crate) fn list(&self, op: &mut Op<'t>, names: [&str; 2]) -> Result<Vec<i64>> {
        self.maybe_list(op, names)?.ok_or_else(|| self.missing(op, names[0]))
    }

    /// The number of an attribute that must be there.
    pub(crate) fn int(&self, op: &mut Op<'t>, names: [&str; 2]) -> Result<i64> {
        let attribute = op.take(names).ok_or_else(|| self.missing(op, names[0]))?;
        number(&attribute).ok_or_else(|| self.misfit(&attribute, "a whole number"))
    }

    /// A truth value, false where nothing is said.
    pub(crate) fn flag(&self, op: &mut Op<'t>, name: &str) -> Result<bool> {
        match op.attributes.take(name) {
            None => Ok(false),
            Some(Attribute { value: Value::Bool(flag), .. }) => Ok(flag),
            Some(Attribute { value: Value::Unit, .. }) => Ok(true),
            Some(other) => Err(self.misfit(&other, "`true` or `false`")),
        }
    }

    /// The last word of an attribute: `LT`, or that of `#stablehlo<comparison_direction LT>`.
    pub(crate) fn last_word(&self, attribute: &Attribute<'t>) -> Result<&'t str> {
        let text = match attribute.value {
            Value::Other(word) => word,
            Value::Dialect(_, (start, end)) => self.cursor.slice(start, end),
            _ => return Err(self.misfit(attribute, "a word")),
        };
        Ok(text.rsplit([' ', '=']).next().unwrap_or(text).trim())
    }

    /// The word of an attribute; `None` where it is missing.
    pub(crate) fn maybe_word(&self, op: &mut Op<'t>, names: [&str; 2]) -> Result<Option<&'t str>> {
        op.take(names).map(|attribute| self.last_word(&attribute)).transpose()
    }

    pub(crate) fn missing(&self, op: &Op<'t>, name: &str) -> Diagnostic {
        self.fault_of(op, codes::ATTRIBUTE, &format!("has no `{name}`"))
    }

    /// Entries such as `offset_dims = [1], index_vector_dim = 1` between the marks of an attribute.
    pub(crate) fn numbers(&mut self, op: &mut Op<'t>, name: &str) -> Result<Numbers<'t>> {
        let attribute = op.attributes.take(name).ok_or_else(|| self.missing(op, name))?;
        let Value::Dialect(_, inside) = attribute.value else {
            return Err(self.misfit(&attribute, "dimension numbers"));
        };
        let back = self.cursor;
        self.cursor = back.within(inside);
        let entries = self.number_entries();
        self.cursor = back;
        entries
    }

    fn number_entries(&mut self) -> Result<Numbers<'t>> {
        let mut entries = Vec::new();
        while !self.cursor.is_at_end() {
            let key = self.cursor.word()?;
            self.cursor.expect(b'=')?;
            let value = self.attribute(0)?;
            let numbers = match number(&value) {
                Some(one) => vec![one],
                None => self.ints(&value)?,
            };
            entries.push((key, numbers));
            if !self.cursor.eat(b',') && !self.cursor.is_at_end() {
                return Err(self.cursor.unexpected("`,`"));
            }
        }
        Ok(Numbers(entries))
    }
}

/// Lists of dimensions by their names.
#[derive(Debug)]
pub(crate) struct Numbers<'t>(Vec<(&'t str, Vec<i64>)>);

impl Numbers<'_> {
    /// A list; empty where it is missing.
    pub(crate) fn list(&mut self, name: &str) -> Vec<i64> {
        let at = self.0.iter().position(|(own, _)| *own == name);
        at.map(|at| self.0.swap_remove(at).1).unwrap_or_default()
    }

    /// A number; 0 where it is missing.
    pub(crate) fn one(&mut self, name: &str) -> i64 {
        self.list(name).first().copied().unwrap_or(0)
    }
}

fn number(attribute: &Attribute<'_>) -> Option<i64> {
    match attribute.value {
        Value::Int(number) => Some(number),
        Value::Bool(flag) => Some(i64::from(flag)),
        _ => None,
    }
}

/// A whole number of little-endian bytes.
fn whole(bytes: &[u8], dtype: DType) -> i64 {
    let mut wide = [if dtype.is_signed() && bytes.last().is_some_and(|&last| last > 127) { 255 } else { 0 }; 8];
    wide.iter_mut().zip(bytes).for_each(|(wide, &byte)| *wide = byte);
    i64::from_le_bytes(wide)
}
