//! Locations of operations.

use super::cursor::unescaped;
use super::reader::{DEPTH, Reader};
use halite_hlo::proto::OpMetadata;
use halite_support::Result;
use rustc_hash::FxHashMap;

/// A location of the text; the first is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LocationId(u32);

/// A location as it is written.
#[derive(Clone, Copy, Debug)]
enum Location<'t> {
    Unknown,
    /// A place in a file: its name, line and first and last column.
    File(&'t str, i32, [i32; 2]),
    /// A scope, and what is inside.
    Named(&'t str, LocationId),
    /// What is elsewhere: a callee, the first of several that became one.
    Of(LocationId),
}

/// The locations so far.
#[derive(Debug)]
pub(crate) struct Locations<'t> {
    all: Vec<Location<'t>>,
    /// Names such as `#loc3`, which may be read before they are given.
    named: FxHashMap<&'t str, LocationId>,
}

impl Default for Locations<'_> {
    fn default() -> Self {
        Self { all: vec![Location::Unknown], named: FxHashMap::default() }
    }
}

/// The most steps from a location to the file that it names, so that one that names itself ends.
const STEPS: usize = 256;

impl<'t> Locations<'t> {
    fn add(&mut self, location: Location<'t>) -> LocationId {
        self.all.push(location);
        LocationId(self.all.len() as u32 - 1)
    }

    /// The location of a name, known or not.
    fn of_name(&mut self, name: &'t str) -> LocationId {
        if let Some(&known) = self.named.get(name) {
            return known;
        }
        let id = self.add(Location::Unknown);
        self.named.insert(name, id);
        id
    }

    /// Gives a name.
    pub(crate) fn define(&mut self, name: &'t str, location: LocationId) {
        let id = self.of_name(name);
        self.all[id.0 as usize] = Location::Of(location);
    }

    /// The origin that a location says; `None` where it says nothing.
    pub(crate) fn metadata(&self, id: LocationId) -> Option<OpMetadata> {
        let mut metadata = OpMetadata::default();
        let mut next = id;
        for _ in 0..STEPS {
            next = match self.all[next.0 as usize] {
                Location::Of(inner) => inner,
                Location::Named(scope, inner) => {
                    if metadata.op_name.is_empty() {
                        metadata.op_name = unescaped(scope);
                    }
                    inner
                }
                Location::File(file, line, columns) => {
                    metadata.source_file = unescaped(file);
                    metadata.source_line = line;
                    [metadata.source_column, metadata.source_end_column] = columns;
                    break;
                }
                Location::Unknown => break,
            };
        }
        let is_known = !metadata.op_name.is_empty() || !metadata.source_file.is_empty();
        is_known.then_some(metadata)
    }

    /// The name that a location is, if it is one.
    pub(crate) fn name(&self, id: LocationId) -> Option<String> {
        let mut next = id;
        for _ in 0..STEPS {
            match self.all[next.0 as usize] {
                Location::Of(inner) => next = inner,
                Location::Named(name, _) => return Some(unescaped(name)),
                Location::File(..) | Location::Unknown => return None,
            }
        }
        None
    }
}

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
