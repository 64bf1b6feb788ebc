//! Text for people in the columns of their terminal. Where there is none (a pipe, a file), nothing is shortened or broken.

use super::table::is_number;
use halite::render::{columns, plain, shortened, visible, wrap};

/// Columns between columns.
const GAP: usize = 2;
/// Before each row of a table.
const INDENT: usize = 2;
/// Names are not shortened further than this.
const NAME: usize = 20;

/// Text whose longer lines go on in lines of their own, a little further to the right.
pub(super) fn fitted(text: &str, width: Option<usize>) -> String {
    let text = visible(text);
    let Some(width) = width else { return text };
    let fit = |line: &str| {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        if columns(line) <= width || body.is_empty() {
            return line.to_owned();
        }
        " ".repeat(indent)
            + &wrap(body, width.saturating_sub(indent), "  ").replace('\n', &format!("\n{}", " ".repeat(indent)))
    };
    text.split('\n').map(fit).collect::<Vec<_>>().join("\n")
}

/// Rows of cells in `width` columns, the first row being the head; numbers are aligned to the right and never broken. Of
/// columns that do not fit, names are shortened in their middle and sentences broken at spaces; then the last columns come
/// below, in a table of their own with the first column again.
pub(super) fn grid(rows: &[Vec<String>], width: Option<usize>) -> String {
    let all: Vec<Column> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(|at| Column::of(rows, at)).collect();
    let Some(room) = width.map(|width| width.saturating_sub(INDENT)) else {
        return drawn(&all.iter().map(|column| (column, column.natural)).collect::<Vec<_>>());
    };
    let bands = bands(&all, room);
    bands.iter().map(|band| drawn(&squeezed(band, room))).collect::<Vec<_>>().join("\n")
}

/// One column of a table.
struct Column {
    cells: Vec<String>,
    is_number: bool,
    /// The columns that it takes whole.
    natural: usize,
    /// The columns that it takes at least.
    least: usize,
}

impl Column {
    fn of(rows: &[Vec<String>], at: usize) -> Self {
        let cells: Vec<String> =
            rows.iter().map(|row| row.get(at).map_or_else(String::new, |cell| plain(cell))).collect();
        let is_number = is_number(&cells);
        let natural = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        let least_of = |(index, cell): (usize, &String)| {
            let longest = cell.split(' ').map(columns).max().unwrap_or(0);
            let is_whole = index > 0 && cell.starts_with(|first: char| first.is_ascii_digit());
            if is_whole { columns(cell) } else { longest.min(NAME) }
        };
        let least = cells.iter().enumerate().map(least_of).max().unwrap_or(0);
        Self { cells, is_number, natural, least: if is_number { natural } else { least } }
    }

    /// The lines of a cell in so many columns.
    fn lines(&self, row: usize, width: usize) -> Vec<String> {
        let cell = &self.cells[row];
        if columns(cell) <= width {
            return vec![cell.clone()];
        }
        let words: Vec<String> = cell.split(' ').map(|word| shortened(word, width)).collect();
        wrap(&words.join(" "), width, "").split('\n').map(str::to_owned).collect()
    }
}

/// The columns in groups that fit at their least, each with the first one.
fn bands(columns: &[Column], room: usize) -> Vec<Vec<&Column>> {
    let Some((first, others)) = columns.split_first() else { return Vec::new() };
    let mut bands: Vec<Vec<&Column>> = vec![vec![first]];
    for column in others {
        let least = |band: &[&Column]| band.iter().map(|column| column.least + GAP).sum::<usize>();
        match bands.last_mut() {
            Some(band) if band.len() == 1 || least(band) + column.least <= room => band.push(column),
            _ => bands.push(vec![first, column]),
        }
    }
    bands
}

/// The columns with what they get: the widest give way first.
fn squeezed<'a>(band: &[&'a Column], room: usize) -> Vec<(&'a Column, usize)> {
    let mut widths: Vec<usize> = band.iter().map(|column| column.natural.min(room.max(column.least))).collect();
    while widths.iter().map(|width| width + GAP).sum::<usize>() > room + GAP {
        let wide = (0..band.len()).filter(|&at| widths[at] > band[at].least).max_by_key(|&at| (widths[at], at));
        let Some(widest) = wide else { break };
        widths[widest] -= 1;
    }
    band.iter().copied().zip(widths).collect()
}

/// A table of columns that have their widths.
fn drawn(columns: &[(&Column, usize)]) -> String {
    let rows = columns.first().map_or(0, |(column, _)| column.cells.len());
    let mut text = String::new();
    for row in 0..rows {
        let cells: Vec<_> = columns.iter().map(|(column, width)| column.lines(row, *width)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let cell = |(lines, (column, width)): (&Vec<String>, &(&Column, usize))| {
                padded(lines.get(line).map_or("", String::as_str), *width, column.is_number)
            };
            let cells: Vec<String> = cells.iter().zip(columns).map(cell).collect();
            text.push_str(&format!("{}{}\n", " ".repeat(INDENT), cells.join(&" ".repeat(GAP)).trim_end()));
        }
        if row == 0 && rows > 1 {
            let rules: Vec<String> = columns.iter().map(|(_, width)| "─".repeat(*width)).collect();
            text.push_str(&format!("{}{}\n", " ".repeat(INDENT), rules.join(&" ".repeat(GAP))));
        }
    }
    text
}

fn padded(cell: &str, width: usize, to_the_right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(columns(cell)));
    if to_the_right { space + cell } else { cell.to_owned() + &space }
}

/// Names and values, one pair a line; longer values go on below themselves.
pub(super) fn pairs(pairs: &[(&str, String)], width: Option<usize>) -> String {
    let names = pairs.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
    let before = INDENT + names + GAP;
    let pair = |(name, value): &(&str, String)| {
        let value = plain(value);
        let value = width.map_or_else(|| value.clone(), |width| wrap(&value, width.saturating_sub(before), ""));
        let value = value.replace('\n', &format!("\n{}", " ".repeat(before)));
        format!("{}{}{}{value}\n", " ".repeat(INDENT), padded(name, names, false), " ".repeat(GAP))
    };
    pairs.iter().map(pair).collect()
}
