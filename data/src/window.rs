//! Tokens of the documents that are packed together, with where they came from.

use crate::shard::Place;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Tokens of a block of a file, by which they are found again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Span {
    pub(crate) shard: usize,
    pub(crate) place: Place,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// A piece of a document that is left over for the next window.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) spans: Vec<Span>,
    pub(crate) tokens: Vec<i32>,
}

/// Documents, or pieces of them, one after another.
#[derive(Default)]
pub(crate) struct Window {
    tokens: Vec<i32>,
    origins: Vec<Origin>,
    documents: Vec<Range<usize>>,
}

/// The origin of tokens of a window: those from `start` on follow `from` of the block at `place`.
struct Origin {
    start: usize,
    shard: usize,
    place: Place,
    from: usize,
}

impl Window {
    /// A window that begins with what the one before left over.
    pub(crate) fn new(carried: &[Carried]) -> Self {
        let mut window = Self::default();
        for piece in carried {
            let start = window.tokens.len();
            let mut at = start;
            for span in &piece.spans {
                window.origins.push(Origin { start: at, shard: span.shard, place: span.place, from: span.from });
                at += span.to - span.from;
            }
            window.tokens.extend(&piece.tokens);
            window.documents.push(start..window.tokens.len());
        }
        window
    }

    /// Adds the tokens of a block, to the last document where the block goes on with it.
    pub(crate) fn add(&mut self, shard: usize, place: Place, tokens: &[i32]) {
        let start = self.tokens.len();
        self.origins.push(Origin { start, shard, place, from: 0 });
        self.tokens.extend(tokens);
        match self.documents.last_mut() {
            Some(last) if place.within => last.end = self.tokens.len(),
            _ => self.documents.push(start..self.tokens.len()),
        }
    }

    pub(crate) fn tokens(&self) -> &[i32] {
        &self.tokens
    }

    /// The documents, as ranges of the tokens that follow one another.
    pub(crate) fn documents(&self) -> &[Range<usize>] {
        &self.documents
    }

    /// A range of the tokens, for the next window.
    pub(crate) fn carry(&self, range: &Range<usize>) -> Carried {
        let first = self.origins.partition_point(|origin| origin.start <= range.start).saturating_sub(1);
        let mut spans = Vec::new();
        for (number, origin) in self.origins.iter().enumerate().skip(first) {
            let end = self.origins.get(number + 1).map_or(self.tokens.len(), |next| next.start).min(range.end);
            let start = origin.start.max(range.start);
            if start >= range.end {
                break;
            }
            if start < end {
                let token = |at: usize| origin.from + at - origin.start;
                spans.push(Span { shard: origin.shard, place: origin.place, from: token(start), to: token(end) });
            }
        }
        Carried { spans, tokens: self.tokens[range.clone()].to_vec() }
    }
}
