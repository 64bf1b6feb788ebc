//! Packing of documents into rows.

mod best_fit;
mod in_order;

use crate::config::Packing;
use crate::layout::Layout;
use crate::window::Window;
use std::ops::Range;

/// Pieces of documents, as ranges of the tokens of a window, that fill a row.
pub(crate) type Row = Vec<Range<usize>>;

/// The documents that are packed together.
pub(crate) struct Documents<'a> {
    /// Ranges that follow one another.
    pub(crate) ranges: &'a [Range<usize>],
    /// Whether the last goes on in the next window.
    pub(crate) goes_on: bool,
    /// Whether an epoch ends with them.
    pub(crate) is_end: bool,
    /// Tokens of a row; at least 2.
    pub(crate) width: usize,
    /// The most tokens that may be left over while rows could be made of them.
    pub(crate) most_carried: usize,
}

/// The result of packing.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Packed {
    pub(crate) rows: Vec<Row>,
    /// The pieces that are left over, in order; where the last document goes on, its open piece is the last.
    pub(crate) carried: Vec<Range<usize>>,
}

impl<'a> Documents<'a> {
    /// The documents of a window.
    pub(crate) fn of(window: &'a Window, goes_on: bool, is_end: bool, layout: &Layout) -> Self {
        let (ranges, width, most_carried) = (window.documents(), layout.width, layout.buffer / 2);
        Self { ranges, goes_on, is_end, width, most_carried }
    }
}

impl Packing {
    pub(crate) fn pack(self, documents: &Documents<'_>) -> Packed {
        match self {
            Self::InOrder => in_order::pack(documents),
            Self::BestFit => best_fit::pack(documents),
        }
    }
}
