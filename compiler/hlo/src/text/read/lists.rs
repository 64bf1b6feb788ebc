//! Numbers, truth values, and lists of numbers.

use super::reader::Reader;
use crate::proto::{PaddingConfig, PaddingConfigDimension, SliceDimensions, SourceTarget};
use halite_support::{Diagnostic, Result, codes};

impl Reader<'_> {
    /// `{1,2}`.
    pub(super) fn integers(&mut self) -> Result<Vec<i64>> {
        self.cursor.expect(b'{')?;
        self.integers_up_to(b'}')
    }

    /// `1,2` and the mark that ends them.
    pub(super) fn integers_up_to(&mut self, end: u8) -> Result<Vec<i64>> {
        let mut integers = Vec::new();
        self.separated(end, |reader| {
            integers.push(reader.cursor.integer()?);
            Ok(())
        })?;
        Ok(integers)
    }

    /// A whole number of 32 bits.
    pub(super) fn small(&mut self) -> Result<i32> {
        let start = self.cursor.at_next();
        let number = self.cursor.integer()?;
        let place = (start, self.cursor.at);
        i32::try_from(number).map_err(|_| self.cursor.fault(place, &format!("{number} has more than 32 bits"), "here"))
    }

    /// A whole number of at least 1.
    pub(super) fn positive(&mut self) -> Result<i64> {
        let start = self.cursor.at_next();
        match self.cursor.integer()? {
            number @ 1.. => Ok(number),
            number => Err(self.misfit((start, self.cursor.at), &format!("{number} is less than 1"))),
        }
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self) -> Result<bool> {
        match self.cursor.peek_word() {
            "true" | "false" => Ok(self.cursor.word()? == "true"),
            _ => Err(self.cursor.unexpected("`true` or `false`")),
        }
    }

    /// `{[0:4], [0:8:2]}`.
    pub(super) fn ranges(&mut self) -> Result<Vec<SliceDimensions>> {
        let mut ranges = Vec::new();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            reader.cursor.expect(b'[')?;
            let start = reader.cursor.integer()?;
            reader.cursor.expect(b':')?;
            let limit = reader.cursor.integer()?;
            let stride = if reader.cursor.eat(b':') { reader.cursor.integer()? } else { 1 };
            reader.cursor.expect(b']')?;
            ranges.push(SliceDimensions { start, limit, stride });
            Ok(())
        })?;
        Ok(ranges)
    }

    /// `{{0,1},{1,0}}`.
    pub(super) fn pairs(&mut self) -> Result<Vec<SourceTarget>> {
        let mut pairs = Vec::new();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            reader.cursor.expect(b'{')?;
            let source = reader.cursor.integer()?;
            reader.cursor.expect(b',')?;
            let target = reader.cursor.integer()?;
            reader.cursor.expect(b'}')?;
            pairs.push(SourceTarget { source, target });
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Numbers that are joined by letters and marks, such as `1_2x0_0`: the word and its place.
    pub(super) fn joined(&mut self) -> (&str, (usize, usize)) {
        let start = self.cursor.at_next();
        let rest = self.cursor.rest();
        let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let length = rest.iter().position(|byte| !is_in(byte)).unwrap_or(rest.len());
        self.cursor.at = start + length;
        (self.cursor.slice(start, self.cursor.at), (start, self.cursor.at))
    }

    /// `0_0x1_1_2`: what is added before, behind and between the elements along each dimension.
    pub(super) fn padding(&mut self) -> Result<PaddingConfig> {
        let (word, place) = self.joined();
        let one = |part: &str| {
            let mut numbers = part.split('_').map(str::parse::<i64>);
            let (low, high) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
            let interior = numbers.next().unwrap_or(Ok(0)).ok()?;
            let padding =
                PaddingConfigDimension { edge_padding_low: low, edge_padding_high: high, interior_padding: interior };
            numbers.next().is_none().then_some(padding)
        };
        // A value without dimensions has none here either.
        let parts = word.split('x').filter(|_| !word.is_empty());
        match parts.map(one).collect::<Option<Vec<_>>>() {
            Some(dimensions) => Ok(PaddingConfig { dimensions }),
            None => Err(self.cursor.fault(place, "expected padding such as `0_0x1_1_2`", "here")),
        }
    }

    /// A fault of an attribute at a place.
    pub(super) fn misfit(&self, place: (usize, usize), message: &str) -> Diagnostic {
        Diagnostic::error(codes::ATTRIBUTE, message).at(self.cursor.span(place), "here")
    }
}
