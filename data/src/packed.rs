//! The sequences of one source.

use crate::dataset::{Dataset, Position, Rows, Skipped};
use crate::encoder::Encoder;
use crate::layout::Layout;
use crate::pack::{Documents, Row};
use crate::random::{hash, shuffle};
use crate::reader::{Cursor, Reader};
use crate::shard::{Block, Place, not_ours};
use crate::window::{Carried, Span, Window};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The constant that sets the order of rows apart from that of files.
const ROWS: u64 = 2;

/// The documents of a source, packed.
pub(crate) struct Packed {
    reader: Reader,
    encoder: Arc<Encoder>,
    layout: Layout,
    identity: BTreeMap<String, String>,
    /// The beginning of the window whose rows are given now.
    start: State,
    /// The beginning of the next.
    next: State,
    /// The tokens that the next begins with.
    carried: Vec<Carried>,
    window: Window,
    rows: Vec<Row>,
    given: usize,
}

/// The position of a source: the beginning of a window, and the number of its rows that were given.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    cursor: Cursor,
    /// Windows before this one.
    window: u64,
    /// The pieces that it begins with.
    carried: Vec<Vec<Span>>,
    given: usize,
}

impl Packed {
    pub(crate) fn new(
        reader: Reader,
        encoder: Arc<Encoder>,
        layout: Layout,
        identity: BTreeMap<String, String>,
    ) -> Self {
        let (start, next) = Default::default();
        let (carried, window, rows) = Default::default();
        Self { reader, encoder, layout, identity, start, next, carried, window, rows, given: 0 }
    }

    /// Reads and packs the next window. Where that fails, it is as it was before.
    fn advance(&mut self) -> Result<()> {
        let (carried, encoder, buffer) = (&self.carried, &self.encoder, self.layout.buffer);
        let (window, is_end) = self.reader.attempt(|reader| read_window(reader, encoder, carried, buffer))?;
        let goes_on = self.reader.cursor().is_within();
        let packed = self.layout.pack.pack(&Documents::of(&window, goes_on, is_end, &self.layout));
        self.rows = packed.rows;
        if let Some(seed) = self.layout.seed {
            shuffle(&mut self.rows, hash(&[seed, ROWS, self.next.window]));
        }
        self.carried = packed.carried.iter().map(|range| window.carry(range)).collect();
        self.window = window;
        let carried = self.carried.iter().map(|piece| piece.spans.clone()).collect();
        let next = State { cursor: self.reader.cursor().clone(), window: self.next.window + 1, carried, given: 0 };
        self.start = std::mem::replace(&mut self.next, next);
        self.given = 0;
        Ok(())
    }

    /// The tokens of pieces, from the files again.
    fn read_again(&self, pieces: &[Vec<Span>]) -> Result<Vec<Carried>> {
        let mut places: Vec<(usize, Place)> = pieces.iter().flatten().map(|span| (span.shard, span.place)).collect();
        places.sort();
        places.dedup();
        let blocks = self.reader.blocks_at(&places)?;
        let encoded = self.encoder.encode(&blocks.iter().collect::<Vec<_>>())?;
        let tokens: BTreeMap<_, _> = places.into_iter().zip(encoded).collect();
        let tokens_of = |span: &Span| {
            let all = &tokens[&(span.shard, span.place)];
            all.get(span.from..span.to).ok_or_else(|| not_ours("the position names tokens that are not there".into()))
        };
        let carried = pieces.iter().map(|spans| {
            let tokens = spans.iter().map(tokens_of).collect::<Result<Vec<_>>>()?.concat();
            Ok(Carried { spans: spans.clone(), tokens })
        });
        carried.collect()
    }

    /// Goes on from a place.
    fn go_to(&mut self, state: State) -> Result<()> {
        self.carried = self.read_again(&state.carried)?;
        self.reader.seek(&state.cursor)?;
        (self.rows, self.given) = (Vec::new(), 0);
        let given = state.given;
        self.next = State { given: 0, ..state };
        if given > 0 {
            self.advance()?;
            if given > self.rows.len() {
                return Err(not_ours(format!("the position is at row {given} of {}", self.rows.len())));
            }
            self.given = given;
        }
        Ok(())
    }

    /// Adds a row of these pieces.
    fn write(&self, row: &[Range<usize>], rows: &mut Rows) {
        for (piece, segment) in row.iter().zip(1..) {
            rows.tokens.extend(&self.window.tokens()[piece.clone()]);
            rows.segments.extend(std::iter::repeat_n(segment, piece.len()));
            rows.positions.extend((0..).take(piece.len()));
        }
        rows.rows += 1;
        let end = rows.rows * rows.width;
        rows.tokens.resize(end, self.encoder.eos().unwrap_or(0));
        rows.segments.resize(end, 0);
        rows.positions.resize(end, 0);
    }

    fn state(&self) -> State {
        if self.given == self.rows.len() {
            self.next.clone()
        } else {
            State { given: self.given, ..self.start.clone() }
        }
    }
}

/// Reads the next window: the pieces that are left over and about as many tokens as `buffer` says; and whether an epoch ends with
/// them.
pub(crate) fn read_window(
    reader: &mut Reader,
    encoder: &Encoder,
    carried: &[Carried],
    buffer: usize,
) -> Result<(Window, bool)> {
    let mut window = Window::new(carried);
    let (is_start, before) = (reader.cursor().is_start(), window.tokens().len());
    while window.tokens().len() < before + buffer {
        let batch = reader.batch(buffer)?;
        if batch.is_empty() {
            if is_start && window.tokens().len() == before {
                let error = Diagnostic::error(codes::TEXT, format!("there is no document in {}", reader.describe()));
                return Err(error.help("give files with text"));
            }
            return Ok((window, true));
        }
        let blocks: Vec<&Block> = batch.iter().map(|(_, block)| block).collect();
        for ((shard, block), tokens) in batch.iter().zip(encoder.encode(&blocks)?) {
            window.add(*shard, block.place, &tokens);
        }
    }
    Ok((window, false))
}

impl Dataset for Packed {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        let mut given = Rows::with_capacity(rows, self.layout.width);
        let mut first = self.given;
        let mut before = None;
        while given.rows < rows {
            if self.given == self.rows.len() {
                if given.rows == 0 {
                    first = 0;
                } else {
                    before.get_or_insert_with(|| State { given: first, ..self.start.clone() });
                }
                if let Err(error) = self.advance() {
                    // The rows that were given in this call are given again in the next.
                    before.map_or(Ok(()), |before| self.go_to(before))?;
                    return Err(error);
                }
            } else {
                self.write(&self.rows[self.given], &mut given);
                self.given += 1;
            }
        }
        Ok(given)
    }

    fn position(&self) -> Position {
        Position(serde_json::json!(self.state()))
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        let state = State::deserialize(&position.0);
        self.go_to(state.map_err(|error| not_ours(format!("the position is not one of this data ({error})")))?)
    }

    fn epochs(&self) -> u64 {
        if self.given == self.rows.len() { self.next.cursor.epoch } else { self.start.cursor.epoch }
    }

    fn identity(&self) -> BTreeMap<String, String> {
        self.identity.clone()
    }

    fn vocabulary(&self) -> u64 {
        self.encoder.vocabulary()
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        self.encoder.warning().cloned().into_iter().collect()
    }

    fn skipped(&self) -> Vec<Skipped> {
        self.reader.skipped()
    }
}
