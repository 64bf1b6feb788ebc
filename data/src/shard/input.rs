//! The bytes of a file or of a part of it, ahead of the place of reading.

use super::coding::Coding;
use super::fault::{Fault, Reason, is_damage};
use super::place::not_ours;
use crate::files::Origin;
use halite_support::Result;
use halite_support::files::cannot;
use std::io::Read;
use std::ops::Range;

/// The mark that editors of other systems put before a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A part of a file that is read from its start to its end.
pub(crate) struct Input {
    origin: Origin,
    coding: Coding,
    range: Range<u64>,
    stream: Box<dyn Read + Send>,
    /// The bytes that were read; those before `start` are used.
    buffer: Vec<u8>,
    start: usize,
    /// The position of the first unused byte.
    at: u64,
    is_at_end: bool,
    /// The fault of the bytes that follow.
    damage: Option<Fault>,
}

impl Input {
    /// The bytes in `range` of the decoded text.
    pub(crate) fn open(origin: &Origin, coding: Coding, range: Range<u64>) -> Result<Self> {
        let stream = coding.open(origin, range.start)?;
        let (origin, at) = (origin.clone(), range.start);
        Ok(Self { origin, coding, range, stream, buffer: Vec::new(), start: 0, at, is_at_end: false, damage: None })
    }

    /// The position of the first unused byte.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The bytes that were read and are not used.
    pub(crate) fn unused(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        self.at += bytes as u64;
    }

    /// Reads on until at least so many bytes are there, or all. A damaged file ends with its last whole line, where the fault is
    /// returned.
    pub(crate) fn fill(&mut self, wanted: usize) -> Result<Option<Fault>> {
        self.read(wanted)?;
        Ok(if self.unused().is_empty() { self.damage.take() } else { None })
    }

    fn read(&mut self, wanted: usize) -> Result<()> {
        if self.unused().len() >= wanted || self.is_at_end {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        // Twice as many, so that no more bytes are moved than are read.
        let room = (2 * wanted - self.buffer.len()) as u64;
        let left = self.range.end - self.at - self.buffer.len() as u64;
        match self.stream.by_ref().take(room.min(left)).read_to_end(&mut self.buffer) {
            Ok(read) => {
                self.is_at_end = (read as u64) < room;
                Ok(())
            }
            Err(error) => self.end_at(&error),
        }
    }

    fn end_at(&mut self, error: &std::io::Error) -> Result<()> {
        if !self.coding.is_decoded() || !is_damage(error.kind()) {
            return Err(cannot("read", &self.origin.path, error));
        }
        let at = self.at + self.unused().len() as u64;
        let whole = self.unused().iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.buffer.truncate(self.start + whole);
        self.is_at_end = true;
        let detail = format!("the file ends early or is damaged ({error})");
        self.damage = Some(Fault { reason: Reason::Damaged, at, detail });
        Ok(())
    }

    /// Goes on from a byte. A decoded file is read again from its start only to go back.
    pub(crate) fn seek(&mut self, at: u64) -> Result<()> {
        if !(self.range.start..=self.range.end).contains(&at) {
            let message =
                format!("the position is at byte {at} of `{}`, which ends before", self.origin.path.display());
            return Err(not_ours(message));
        }
        if self.coding.is_decoded() && at >= self.at {
            return self.skip(at - self.at);
        }
        self.stream = self.coding.open(&self.origin, at)?;
        (self.buffer, self.start, self.at, self.is_at_end, self.damage) = (Vec::new(), 0, at, false, None);
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        let held = bytes.min(self.unused().len() as u64);
        self.consume(held as usize);
        let rest = bytes - held;
        let skipped = std::io::copy(&mut self.stream.by_ref().take(rest), &mut std::io::sink());
        let skipped = skipped.map_err(|error| cannot("read", &self.origin.path, &error))?;
        self.at += skipped;
        self.is_at_end |= skipped < rest;
        Ok(())
    }
}
