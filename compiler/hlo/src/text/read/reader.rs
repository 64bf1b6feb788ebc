//! The state of reading a text.

use super::BEGIN;
use crate::proto::{HloInstructionProto, HloModuleProto};
use halite_support::{Cursor, Diagnostic, Diagnostics, Result, SourceFile, codes};
use rustc_hash::FxHashMap;

/// How deep types and shardings may nest.
pub(super) const DEPTH: usize = 64;

/// The most faults that are told of one text.
const FAULTS: usize = 100;

/// A text and what was read of it.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) module: HloModuleProto,
    /// The positions of computations by their names; `None` for one with a fault.
    pub(super) computations: FxHashMap<&'t str, Option<usize>>,
    /// The instructions of the computation that is read.
    pub(super) instructions: Vec<HloInstructionProto>,
    /// The positions of these by their names; `None` for one with a fault.
    pub(super) names: FxHashMap<&'t str, Option<usize>>,
    /// The places of all instructions. The id of each is its position.
    pub(super) places: Vec<(usize, usize)>,
    /// The position of the entry.
    pub(super) entry: Option<usize>,
    /// The place of the types that the first line states of the entry.
    pub(super) layout: (usize, usize),
    pub(super) faults: Diagnostics,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &'t SourceFile) -> Self {
        Self {
            cursor: Cursor::new(file.text(), file.id()),
            module: HloModuleProto::default(),
            computations: FxHashMap::default(),
            instructions: Vec::new(),
            names: FxHashMap::default(),
            places: Vec::new(),
            entry: None,
            layout: (0, 0),
            faults: Diagnostics::new(),
        }
    }

    /// Reads the whole text.
    pub(super) fn text(&mut self) -> Result<()> {
        if !self.cursor.eat_word(BEGIN) {
            return Err(self.cursor.unexpected(&format!("`{BEGIN}`")));
        }
        self.header()?;
        self.frames()?;
        while !self.cursor.is_at_end() {
            self.computation()?;
        }
        if self.entry.is_none() && self.faults.is_empty() {
            let fault = Diagnostic::error(codes::UNDEFINED_VALUE, "the module has no entry");
            let place = self.cursor.within((0, BEGIN.len()));
            return Err(fault
                .at(place.span((0, BEGIN.len())), "this module")
                .help("write `ENTRY` before the name of the computation that is the program"));
        }
        Ok(())
    }

    /// Keeps a fault of which reading goes on behind. There are only so many.
    pub(super) fn report(&mut self, fault: Diagnostic) -> Result<()> {
        if fault.code() == codes::CANCELLED {
            return Err(fault);
        }
        self.faults.push(fault);
        if self.faults.len() < FAULTS {
            return Ok(());
        }
        Err(Diagnostic::error(codes::LIMIT, format!("reading ended after {FAULTS} faults")))
    }

    /// A name, with or without `%`.
    pub(super) fn name(&mut self, what: &str) -> Result<&'t str> {
        if self.cursor.peek() == b'%' {
            return self.cursor.name(b'%', what);
        }
        match self.cursor.peek_dashed() {
            "" => Err(self.cursor.unexpected(what)),
            name => {
                self.cursor.at += name.len();
                Ok(name)
            }
        }
    }

    /// Items that a mark separates, up to the mark that ends them, which is taken.
    pub(super) fn separated(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.cursor.eat(end) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.cursor.eat(end) {
                return Ok(());
            }
            if !self.cursor.eat(b',') {
                return Err(self.cursor.unexpected(&format!("`,` or `{}`", char::from(end))));
            }
        }
    }
}
