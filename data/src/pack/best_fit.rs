//! Documents whole where they are no longer than a row, the longest first, each into the fullest row that has room.

use super::{Documents, Packed, Row};
use std::collections::BTreeSet;
use std::ops::Range;

/// Of so many tokens one may be padding before an epoch ends.
const TOKENS_FOR_ONE_PADDED: usize = 512;

/// Rows that are full or nearly so are given, the rest is left over for documents that fill the gaps. More than
/// `most_carried` is never left over: then the fullest rows are given as they are.
pub(super) fn pack(documents: &Documents<'_>) -> Packed {
    let (pieces, open) = pieces(documents);
    let mut rows = fill(pieces, documents.width);
    let given = if documents.is_end { rows.len() } else { count_given(&mut rows, documents) };
    let mut carried: Vec<Range<usize>> = rows.split_off(given).into_iter().flat_map(|(_, row)| row).collect();
    carried.sort_by_key(|piece| piece.start);
    carried.extend(open);
    let mut rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    for row in &mut rows {
        row.sort_by_key(|piece| piece.start);
    }
    rows.sort_by_key(|row| row[0].start);
    Packed { rows, carried }
}

/// Documents in pieces that fit a row, each beginning with the last token of the one before; and the piece that goes on.
fn pieces(documents: &Documents<'_>) -> (Vec<Range<usize>>, Option<Range<usize>>) {
    let mut pieces = Vec::with_capacity(documents.ranges.len());
    for (number, document) in documents.ranges.iter().enumerate() {
        let mut rest = document.clone();
        while rest.len() > documents.width {
            pieces.push(rest.start..rest.start + documents.width);
            rest.start += documents.width - 1;
        }
        if documents.goes_on && number + 1 == documents.ranges.len() {
            return (pieces, Some(rest));
        }
        pieces.push(rest);
    }
    (pieces, None)
}

/// Best fit decreasing. Each row is with the room that is left in it.
fn fill(mut pieces: Vec<Range<usize>>, width: usize) -> Vec<(usize, Row)> {
    pieces.sort_by_key(|piece| (std::cmp::Reverse(piece.len()), piece.start));
    let mut rows: Vec<(usize, Row)> = Vec::new();
    let mut by_room = BTreeSet::new();
    for piece in pieces {
        let found = by_room.range((piece.len(), 0)..).next().copied();
        let row = match found {
            Some((room, row)) => {
                by_room.remove(&(room, row));
                row
            }
            None => {
                rows.push((width, Vec::new()));
                rows.len() - 1
            }
        };
        rows[row].0 -= piece.len();
        rows[row].1.push(piece);
        if rows[row].0 > 0 {
            by_room.insert((rows[row].0, row));
        }
    }
    rows
}

/// The number of rows that are given; they are sorted, the fullest first.
fn count_given(rows: &mut [(usize, Row)], documents: &Documents<'_>) -> usize {
    rows.sort_by_key(|(room, _)| *room);
    let mut carried: usize = rows.iter().map(|(room, _)| documents.width - room).sum();
    let mut padded = 0;
    for (given, (room, _)) in rows.iter().enumerate() {
        padded += room;
        let is_full = padded * TOKENS_FOR_ONE_PADDED <= (given + 1) * documents.width;
        if !is_full && carried <= documents.most_carried {
            return given;
        }
        carried -= documents.width - room;
    }
    rows.len()
}
