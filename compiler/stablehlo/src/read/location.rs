//! Locations of operations.

use super::string::unescaped;
use halite_hlo::proto::{OpMetadata, Shared};
use rustc_hash::FxHashMap;

/// A location of the text; the first is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LocationId(u32);

/// A location as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location<'t> {
    Unknown,
    /// A place in a file: its name, line and first and last column.
    File(&'t str, i32, [i32; 2]),
    /// A scope, and what is inside.
    Named(&'t str, LocationId),
    /// One that says no more: a callee, the first of several that became one.
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
    /// Adds a location.
    pub(crate) fn add(&mut self, location: Location<'t>) -> LocationId {
        self.all.push(location);
        LocationId(self.all.len() as u32 - 1)
    }

    /// The location of a name, known or not.
    pub(crate) fn of_name(&mut self, name: &'t str) -> LocationId {
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

    /// The origins that the locations of a text that was read say.
    pub(crate) fn into_origins(self) -> Origins<'t> {
        Origins { known: vec![None; self.all.len()], locations: self.all }
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

/// The origins that locations say. Instructions of one location share its origin.
#[derive(Debug)]
pub(crate) struct Origins<'t> {
    locations: Vec<Location<'t>>,
    /// Those that were asked for, by the numbers of their locations.
    known: Vec<Option<Shared<OpMetadata>>>,
}

impl Origins<'_> {
    /// The origin that a location says; `None` where it says nothing.
    pub(crate) fn of(&mut self, id: LocationId) -> Option<Shared<OpMetadata>> {
        let at = id.0 as usize;
        if self.known[at].is_none() {
            self.known[at] = self.read(id).map(Shared::from);
        }
        self.known[at].clone()
    }

    fn read(&self, id: LocationId) -> Option<OpMetadata> {
        let mut metadata = OpMetadata::default();
        let mut next = id;
        for _ in 0..STEPS {
            next = match self.locations[next.0 as usize] {
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
}
