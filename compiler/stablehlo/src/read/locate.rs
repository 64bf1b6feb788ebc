//! Reading locations.

use super::location::{Location, LocationId};
use super::reader::{DEPTH, Reader};
use halite_support::Result;

impl<'t> Reader<'t> {
    /// `loc(..)` if it is next.
    pub(crate) fn trailing_location(&mut self) -> Result<LocationId> {
        if self.cursor.peek() == b'l' && self.cursor.eat_word("loc") {
            return self.location_in_marks(0);
        }
        Ok(LocationId::default())
    }

    /// `(..)` behind `loc`.
    pub(crate) fn location_in_marks(&mut self, depth: usize) -> Result<LocationId> {
        self.cursor.expect(b'(')?;
        let location = self.location(depth)?;
        self.cursor.expect(b')')?;
        Ok(location)
    }

    fn location(&mut self, depth: usize) -> Result<LocationId> {
        if depth > DEPTH {
            return Err(self.too_deep(self.cursor.at));
        }
        match self.cursor.peek() {
            b'#' => {
                let name = self.cursor.name(b'#', "a location")?;
                Ok(self.locations.of_name(name))
            }
            b'"' => self.file_or_name(depth),
            _ if self.cursor.eat_word("unknown") => Ok(LocationId::default()),
            _ if self.cursor.eat_word("callsite") => {
                self.cursor.expect(b'(')?;
                let callee = self.location(depth + 1)?;
                if !self.cursor.eat_word("at") {
                    return Err(self.cursor.unexpected("`at`"));
                }
                self.location(depth + 1)?;
                self.cursor.expect(b')')?;
                Ok(self.locations.add(Location::Of(callee)))
            }
            _ if self.cursor.eat_word("fused") => self.fused(depth),
            _ => Err(self.cursor.unexpected("a location")),
        }
    }

    /// `"file":line:column`, with ` to ` and another, or `"scope"(..)`.
    fn file_or_name(&mut self, depth: usize) -> Result<LocationId> {
        let text = self.cursor.raw_string()?;
        let location = match self.cursor.peek() {
            b':' => {
                self.cursor.expect(b':')?;
                let line = self.position()?;
                self.cursor.expect(b':')?;
                let first = self.position()?;
                let last = if self.cursor.eat_word("to") { self.end_of_range()? } else { 0 };
                Location::File(text, line, [first, last])
            }
            b'(' => Location::Named(text, self.location_in_marks(depth + 1)?),
            _ => Location::Named(text, LocationId::default()),
        };
        Ok(self.locations.add(location))
    }

    /// `:column` or `line:column`, of which the column is kept.
    fn end_of_range(&mut self) -> Result<i32> {
        if self.cursor.peek() != b':' {
            self.position()?;
        }
        self.cursor.expect(b':')?;
        self.position()
    }

    fn position(&mut self) -> Result<i32> {
        self.cursor.integer().map(|number| i32::try_from(number).unwrap_or(0))
    }

    /// `fused[a, b]` and `fused<..>[a, b]`: the first is kept.
    fn fused(&mut self, depth: usize) -> Result<LocationId> {
        if self.cursor.peek() == b'<' {
            self.cursor.group()?;
        }
        self.cursor.expect(b'[')?;
        let first = self.location(depth + 1)?;
        while self.cursor.eat(b',') {
            self.location(depth + 1)?;
        }
        self.cursor.expect(b']')?;
        Ok(first)
    }
}
