//! A file of JSON that is one array of objects, whose texts stand under a key. It is read element by element.

use super::document;
use crate::files::Origin;
use crate::shard::{
    BYTE_ORDER_MARK, Blocks, Coding, Fault, Found, Input, LONGEST, Place, Reason, Shard, is_damage, locate,
};
use halite_support::files::cannot;
use halite_support::{Result, units};
use std::io::Read;
use std::path::Path;

/// The number of bytes that are read at once of elements that are not longer.
const READ: usize = 1 << 18;

/// The number of bytes that are read at first to see whether a file is an array.
const FEW: usize = 64;

/// A file that is one array.
pub(super) struct ArrayShard {
    pub(super) origin: Origin,
    pub(super) coding: Coding,
    /// The key that the text of an element stands under.
    pub(super) column: String,
}

/// Whether the first thing in a file is the begin of an array.
pub(super) fn is_array(origin: &Origin, coding: Coding) -> Result<bool> {
    let (mut text, mut start) = (coding.open(origin, 0)?, Vec::new());
    // Most files do not begin with many blanks: more is read only of those that do.
    for most in [FEW, READ] {
        match text.by_ref().take((most - start.len()) as u64).read_to_end(&mut start) {
            Ok(_) => {}
            // Damage is reported where the file is read.
            Err(error) if coding.is_decoded() && is_damage(error.kind()) => return Ok(false),
            Err(error) => return Err(cannot("read", &origin.path, &error)),
        }
        if let Some(first) = start.get(begin(&start)) {
            return Ok(*first == b'[');
        }
    }
    Ok(false)
}

/// Bytes before the first that means something.
fn begin(text: &[u8]) -> usize {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    mark + blank(&text[mark..])
}

fn blank(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

impl Shard for ArrayShard {
    fn path(&self) -> &Path {
        &self.origin.path
    }

    fn locate(&self, at: u64) -> String {
        locate(&self.origin, self.coding, at)
    }

    fn open(&self) -> Result<Box<dyn Blocks>> {
        let input = Input::open(&self.origin, self.coding, 0..u64::MAX)?;
        Ok(Box::new(ArrayBlocks { input, column: self.column.clone(), may_end: false }))
    }
}

struct ArrayBlocks {
    input: Input,
    column: String,
    /// Whether nothing more need be there.
    may_end: bool,
}

/// The state of a search for the end of an element.
#[derive(Default)]
struct Scan {
    looked: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// The comma or bracket that ends the element.
    fn end(&mut self, text: &[u8]) -> Option<usize> {
        for (at, byte) in text.iter().enumerate().skip(self.looked) {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b',' | b']' if self.depth == 0 => return Some(at),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.looked = text.len();
        None
    }
}

impl ArrayBlocks {
    /// Passes over blanks and, at the start, over the begin of the array.
    fn skip_blank(&mut self) -> Result<Option<Fault>> {
        loop {
            if let Some(fault) = self.input.fill(READ)? {
                return Ok(Some(fault));
            }
            let text = self.input.unused();
            let bytes = match self.input.at() {
                0 => begin(text) + 1,
                _ => blank(text),
            };
            self.input.consume(bytes.min(text.len()));
            if bytes == 0 {
                return Ok(None);
            }
        }
    }

    /// Reads the end of the array, behind which nothing may follow.
    fn end(&mut self, at: u64) -> Result<Found> {
        self.may_end = true;
        self.input.consume(1);
        if let Some(fault) = self.skip_blank()? {
            return Ok(Found::Fault(fault));
        }
        if self.input.unused().is_empty() {
            return Ok(Found::End);
        }
        while !self.input.unused().is_empty() {
            let bytes = self.input.unused().len();
            self.input.consume(bytes);
            self.input.fill(READ)?;
        }
        Ok(not_json(at, "something follows the array"))
    }

    /// Goes behind an element that is too long to be held.
    fn skip_element(&mut self, mut scan: Scan) -> Result<Option<Fault>> {
        loop {
            self.input.consume(scan.looked);
            scan.looked = 0;
            if let Some(fault) = self.input.fill(READ)? {
                return Ok(Some(fault));
            }
            let text = self.input.unused();
            if let Some(end) = scan.end(text) {
                let bytes = end + usize::from(text[end] == b',');
                self.input.consume(bytes);
                return Ok(None);
            }
            if self.input.unused().is_empty() {
                return Ok(None);
            }
        }
    }
}

fn not_json(at: u64, detail: &str) -> Found {
    Found::Fault(Fault { reason: Reason::NotJson, at, detail: detail.to_owned() })
}

impl Blocks for ArrayBlocks {
    fn next(&mut self) -> Result<Found> {
        if let Some(fault) = self.skip_blank()? {
            return Ok(Found::Fault(fault));
        }
        let place = self.place();
        let (mut wanted, mut scan) = (READ, Scan::default());
        let end = loop {
            if let Some(fault) = self.input.fill(wanted)? {
                return Ok(Found::Fault(fault));
            }
            let text = self.input.unused();
            match scan.end(text) {
                Some(end) => break end,
                None if text.is_empty() && self.may_end => return Ok(Found::End),
                None if text.len() < wanted => {
                    self.may_end = true;
                    let bytes = text.len();
                    self.input.consume(bytes);
                    return Ok(not_json(place.at, "the file ends within the array"));
                }
                None if wanted >= LONGEST => {
                    let fault = self.skip_element(scan)?;
                    let detail = format!("the element is longer than {}", units::bytes(LONGEST as u64));
                    return Ok(Found::Fault(fault.unwrap_or(Fault { reason: Reason::TooLong, at: place.at, detail })));
                }
                None => wanted *= 2,
            }
        };
        let text = self.input.unused();
        if end == 0 && text[end] == b']' {
            return self.end(place.at);
        }
        let found = match text[..end].trim_ascii() {
            b"" => not_json(place.at, "there is nothing where an element should be"),
            element => document(place, element, &self.column, "element"),
        };
        self.may_end = false;
        let bytes = end + usize::from(text[end] == b',');
        self.input.consume(bytes);
        Ok(found)
    }

    fn place(&self) -> Place {
        Place { at: self.input.at(), within: false }
    }

    fn seek(&mut self, place: Place) -> Result<()> {
        self.may_end = true;
        self.input.seek(place.at)
    }
}
