//! The excerpt of a text in a report: the lines with labels, one more before and after, and of long lines a part.
//!
//! Whatever the size of the text, no more of it is read than is shown.

use super::text::{columns, wrap};
use halite_support::text::{is_hidden, visible};
use halite_support::{Label, Position, SourceFile};
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;

/// Columns between tab stops.
const TAB: usize = 4;
/// The most columns of a row, however wide the terminal says it is; miette's paddings end with 16 bits.
const WIDEST: usize = 1000;
/// Columns that the text of a label gets at least, where it has as many.
const LABEL: usize = 24;
/// The character in place of an omitted part of a line.
const ELLIPSIS: char = '…';

/// Rows of a text, each in the columns there are, with its labels.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    /// The rows of all regions, each with its line end.
    rows: String,
    regions: Vec<Region>,
    /// The starts of labels in `rows`, and in the text.
    places: Vec<(usize, Position)>,
    labels: Vec<LabeledSpan>,
}

/// Rows of neighbouring lines.
#[derive(Debug)]
struct Region {
    /// Its part of the rows.
    range: Range<usize>,
    first_line: usize,
    lines: usize,
}

/// A label in the text.
#[derive(Clone, Debug)]
struct Spot<'a> {
    label: &'a Label,
    is_primary: bool,
    /// The marked part of the line where the label begins.
    range: Range<usize>,
    at: Position,
    /// The first byte of the line that is shown.
    from: usize,
}

impl Excerpt {
    /// The places of labels in a text, in `width` columns, with the name that is shown of it. The first label is the main
    /// one.
    pub(super) fn of(file: &SourceFile, name: String, labels: &[&Label], width: usize) -> Self {
        let last = labels.iter().map(|label| file.position(label.span.start as usize).line).max().unwrap_or(1);
        // A number, a line and three spaces stand before a row.
        let room = width.min(WIDEST).saturating_sub((last + 1).to_string().len() + 4).max(2 * LABEL);
        let spots = labels.iter().enumerate().map(|(index, label)| Spot::new(file, label, index == 0, room));
        let mut spots: Vec<_> = spots.collect();
        spots.sort_by_key(|spot| spot.range.start);
        let empty = Self { name, rows: String::new(), regions: Vec::new(), places: Vec::new(), labels: Vec::new() };
        spots.chunk_by(|a, b| b.is_near(a, file, room)).fold(empty, |mut excerpt, group| {
            excerpt.add_region(file, group, room);
            excerpt
        })
    }

    /// The labels, with their places in the rows.
    pub(super) fn labels(&self) -> &[LabeledSpan] {
        &self.labels
    }

    fn add_region(&mut self, file: &SourceFile, spots: &[Spot<'_>], room: usize) {
        let (Some(first), Some(last)) = (spots.first(), spots.last()) else { return };
        let context = usize::from(first.from == line_start(file, first.at.line));
        let lines = first.at.line.saturating_sub(context).max(1)..=last.at.line + context;
        let start = self.rows.len();
        let mut count = 0;
        for line in lines.clone() {
            let here: Vec<_> = spots.iter().filter(|spot| spot.at.line == line).collect();
            let Some(line_start) = file.line_start(line) else { break };
            // After the end of the last line there is nothing to show, unless it is what a label is about.
            if line_start == file.text().len() && here.is_empty() {
                break;
            }
            self.add_row(file.text(), here.first().map_or(line_start, |spot| spot.from), &here, room);
            count += 1;
        }
        self.regions.push(Region { range: start..self.rows.len(), first_line: *lines.start(), lines: count });
    }

    /// Adds the part of a line that begins at `from`.
    fn add_row(&mut self, text: &str, from: usize, spots: &[&Spot<'_>], room: usize) {
        let start = self.rows.len();
        let is_cut = from > 0 && !text[..from].ends_with('\n');
        self.rows.extend(is_cut.then_some(ELLIPSIS));
        let mut used = usize::from(is_cut);
        // By byte of the text: byte of the rows and column.
        let mut begins = vec![(start, 0); spots.len()];
        let mut ends = begins.clone();
        let mut mark = |byte: usize, here: (usize, usize)| {
            for (index, spot) in spots.iter().enumerate() {
                if byte <= spot.range.start {
                    begins[index] = here;
                }
                if byte <= spot.range.end {
                    ends[index] = here;
                }
            }
        };
        let mut at = from;
        let mut characters = rest_of_line(text, from).peekable();
        while let Some(character) = characters.next() {
            mark(at, (self.rows.len(), used));
            let shown = shown(character, used);
            let taken = columns(&shown);
            let is_last = characters.peek().is_none();
            if used + taken + usize::from(!is_last) > room {
                self.rows.push(ELLIPSIS);
                at = usize::MAX;
                break;
            }
            self.rows.push_str(&shown);
            used += taken;
            at += character.len_utf8();
        }
        if at < usize::MAX {
            mark(at, (self.rows.len(), used));
        }
        self.rows.push('\n');
        let mut highest = 0;
        for (spot, (begin, end)) in spots.iter().zip(begins.into_iter().zip(ends)) {
            let first = begin.1.max(highest);
            highest = end.1.max(first + 1);
            self.add_label(spot, begin.0..end.0, room.saturating_sub((first + highest) / 2 + 4));
        }
    }

    /// Adds a label whose text has so many columns.
    fn add_label(&mut self, spot: &Spot<'_>, range: Range<usize>, room: usize) {
        let text = (!spot.label.text.is_empty()).then(|| wrap(&visible(&spot.label.text), room, ""));
        let new = if spot.is_primary { LabeledSpan::new_primary_with_span } else { LabeledSpan::new_with_span };
        self.places.push((range.start, spot.at));
        self.labels.push(new(text, (range.start, range.len())));
    }
}

impl<'a> Spot<'a> {
    fn new(file: &SourceFile, label: &'a Label, is_primary: bool, room: usize) -> Self {
        let text = file.text();
        let floor = |byte: u32| (0..=(byte as usize).min(text.len())).rev().find(|&byte| text.is_char_boundary(byte));
        let start = floor(label.span.start).unwrap_or(0);
        let end = floor(label.span.end).unwrap_or(start).max(start);
        // What is beyond the columns there are is not marked.
        let mut marked = text[start..end].char_indices().take(room).take_while(|(_, character)| *character != '\n');
        let end = marked.by_ref().last().map_or(start, |(offset, character)| start + offset + character.len_utf8());
        let mut spot = Self { label, is_primary, range: start..end, at: file.position(start), from: start };
        spot.scroll(text, room);
        spot
    }

    /// Finds the first byte of the line from which on what is marked, and some of the label, are in `room` columns.
    fn scroll(&mut self, text: &str, room: usize) {
        let wanted =
            self.label.text.split(' ').map(columns).max().unwrap_or(0).max(columns(&self.label.text).min(LABEL));
        let most = room.saturating_sub(wanted.min(room / 2) + 4);
        let marked = columns_of(&text[self.range.clone()], room);
        let middle = |before: usize| (before + (before + marked.max(1)).min(room)) / 2;
        let (mut used, mut bytes, mut near) = (0, 0, (0, 0));
        for character in text[..self.range.start].chars().rev().take_while(|character| *character != '\n') {
            used += columns(&shown(character, 0));
            bytes += character.len_utf8();
            if used <= room / 4 {
                near = (used, bytes);
            }
            if middle(used) > most {
                // An ellipsis stands before what is shown.
                (used, bytes) = (near.0 + 1, near.1);
                break;
            }
        }
        self.from = self.range.start - bytes;
        self.narrow(text, room, used, most);
    }

    /// Marks less where the middle, below which the label hangs, is too far to the right.
    fn narrow(&mut self, text: &str, room: usize, before: usize, most: usize) {
        let end = (2 * most).saturating_sub(before).min(room).max(before + 1);
        let mut used = before;
        let fits = text[self.range.clone()].chars().take_while(|character| {
            used += columns(&shown(*character, 0));
            used <= end
        });
        self.range.end = self.range.start + fits.map(char::len_utf8).sum::<usize>();
    }

    /// Whether it is shown in one region with the spot before it.
    fn is_near(&self, before: &Self, file: &SourceFile, room: usize) -> bool {
        let is_whole = |spot: &Self| spot.from == line_start(file, spot.at.line);
        if self.at.line == before.at.line {
            let used = columns_of(&file.text()[before.from..self.range.end.max(before.from)], room);
            return self.from == before.from && self.range.start >= before.range.end && used + 1 < room;
        }
        is_whole(self) && is_whole(before) && self.at.line <= before.at.line + 3
    }
}

fn line_start(file: &SourceFile, line: usize) -> usize {
    file.line_start(line).unwrap_or(file.text().len())
}

/// The characters of a line from a byte on, without its end.
fn rest_of_line(text: &str, from: usize) -> impl Iterator<Item = char> {
    let mut rest = text[from..].chars();
    std::iter::from_fn(move || {
        let is_end = rest.as_str().starts_with("\r\n");
        rest.next().filter(|character| *character != '\n' && !is_end)
    })
}

/// The columns that a text takes at most; that it takes more than `enough` is known without its rest.
fn columns_of(text: &str, enough: usize) -> usize {
    text.chars().take(enough + 1).map(|character| columns(&shown(character, 0)).max(1)).sum()
}

/// The text that is shown for a character in a column.
fn shown(character: char, column: usize) -> String {
    match character {
        '\t' => " ".repeat(TAB - column % TAB),
        hidden if is_hidden(hidden) => hidden.escape_unicode().to_string(),
        plain => plain.to_string(),
    }
}

impl SourceCode for Excerpt {
    /// The region that a span is in; asked for without lines around it, with its place in the text.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let end = span.offset() + span.len();
        let is_around = |region: &&Region| region.range.start <= span.offset() && end < region.range.end;
        let region = self.regions.iter().find(is_around).ok_or(MietteError::OutOfBounds)?;
        let place = self.places.iter().find(|(start, _)| before == 0 && *start == span.offset());
        let (line, column) = place.map_or((region.first_line - 1, 0), |(_, at)| (at.line - 1, at.column - 1));
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            self.rows[region.range.clone()].as_bytes(),
            (region.range.start, region.range.len()).into(),
            line,
            column,
            region.lines,
        )))
    }
}
