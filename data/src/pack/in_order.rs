//! One document after another, cut where a row is full. A row begins with the last token of the one before.

use super::{Documents, Packed};
use std::ops::Range;

/// Packs documents. Tokens that do not fill a row are left over, across epochs too, so that nothing is padded.
pub(super) fn pack(documents: &Documents<'_>) -> Packed {
    let total = documents.ranges.last().map_or(0, |last| last.end);
    let stride = documents.width - 1;
    let count = total.saturating_sub(1) / stride;
    let rows = (0..count).map(|row| row * stride..row * stride + documents.width);
    let rows = rows.map(|row| overlap(documents.ranges, &row)).collect();
    Packed { rows, carried: overlap(documents.ranges, &(count * stride..total)) }
}

/// The parts of documents that lie in a range.
fn overlap(documents: &[Range<usize>], range: &Range<usize>) -> Vec<Range<usize>> {
    let first = documents.partition_point(|document| document.end <= range.start);
    let inside = documents[first..].iter().take_while(|document| document.start < range.end);
    inside.map(|document| document.start.max(range.start)..document.end.min(range.end)).collect()
}
