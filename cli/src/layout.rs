//! Text for people in the columns of their terminal. Where there is none (a pipe, a file), nothing is shortened or broken.

use halite_report::{columns, plain, shortened, visible, wrap};
use std::collections::BTreeSet;

/// Columns between columns.
const GAP: usize = 2;
/// Before each row of a table.
const INDENT: usize = 2;
/// Names are not shortened further than this.
const NAME: usize = 20;
/// The most characters of a number with its unit.
const NUMBER: usize = 24;

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
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT));
    let places = 0..rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut all: Vec<Column> = places.map(|at| Column::of(rows, at)).collect();
    if width.is_none() {
        return drawn(&all.iter().map(|column| (column, column.natural)).collect::<Vec<_>>());
    }
    if let Some((first, others)) = all.split_first_mut() {
        let others = others.iter().map(|column| column.least + GAP).max().unwrap_or(0);
        first.keep_apart(room.saturating_sub(others));
    }
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
            let is_number = index > 0 && cell.starts_with(|first: char| first.is_ascii_digit());
            if is_number { columns(cell).min(NAME) } else { longest.min(NAME) }
        };
        let least = cells.iter().enumerate().map(least_of).max().unwrap_or(0);
        Self { cells, is_number, natural, least: if is_number { natural } else { least } }
    }

    /// Takes as much, up to `most`, as different cells need to look different: rows are told apart by their first ones.
    fn keep_apart(&mut self, most: usize) {
        let different: BTreeSet<&String> = self.cells.iter().collect();
        let shown = |width: usize| different.iter().map(|cell| lines(cell, width)).collect::<BTreeSet<_>>();
        let most = most.min(self.natural).max(self.least);
        self.least = (self.least..most).find(|&width| shown(width).len() == different.len()).unwrap_or(most);
    }
}

/// The lines of a cell in so many columns.
fn lines(cell: &str, width: usize) -> Vec<String> {
    if columns(cell) <= width {
        return vec![cell.to_owned()];
    }
    let words: Vec<String> = cell.split(' ').map(|word| shortened(word, width)).collect();
    wrap(&words.join(" "), width, "").split('\n').map(str::to_owned).collect()
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
        let cells: Vec<_> = columns.iter().map(|(column, width)| lines(&column.cells[row], *width)).collect();
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

/// Whether a column, of which the first cell is the head, holds numbers, and words for where there is none.
fn is_number(cells: &[String]) -> bool {
    let starts_as_one = |first: char| first.is_ascii_digit() || first == '-' || first == '+';
    let is_number = |cell: &String| cell.starts_with(starts_as_one) && cell.len() <= NUMBER;
    let is_gap = |cell: &String| ["", "none", "diverged", "NaN", "inf"].contains(&cell.as_str());
    let mut body = cells.iter().skip(1);
    body.clone().any(is_number) && body.all(|cell| is_number(cell) || is_gap(cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
        cells.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    fn example() -> Vec<Vec<String>> {
        rows(&[
            &["parameter", "type", "elements", "stored in"],
            &[
                "model.layers.*.self_attn.q_proj.weight",
                "bf16[4096,4096]",
                "536,870,912",
                "model.layers.*.qkv bf16[8,1536,4096], 8 times",
            ],
            &["model.layers.*.mlp.down_proj.weight", "bf16[4096,11008]", "1,442,840,576", ""],
        ])
    }

    #[test]
    fn without_a_terminal_nothing_is_shortened() {
        let text = grid(&example(), None);
        assert!(
            text.contains(
                "model.layers.*.self_attn.q_proj.weight  bf16[4096,4096]     536,870,912  model.layers.*.qkv"
            ),
            "{text}"
        );
        assert!(!text.contains('…'));
        let long = "word ".repeat(100);
        assert_eq!(
            (fitted(&long, None), pairs(&[("a", long.clone())], None)),
            (long.clone(), format!("  a  {long}\n"))
        );
    }

    #[test]
    fn columns_that_do_not_fit_give_way_in_order() {
        let text = grid(&example(), Some(100));
        assert!(text.contains("536,870,912") && text.contains("8 times"), "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
        // Where that is not enough, the last columns come below, with the first one again.
        let text = grid(&example(), Some(50));
        assert!(text.matches("parameter").count() > 1, "{text}");
    }

    #[test]
    fn names_that_differ_do_so_when_they_are_shortened() {
        let names = ["q", "k", "v"].map(|name| format!("model.layers.*.self_attn.{name}_proj.weight.of.the.model"));
        let rows: Vec<Vec<String>> = std::iter::once("name")
            .chain(names.iter().map(String::as_str))
            .map(|name| vec![name.to_owned(), "1".repeat(20)])
            .collect();
        let text = grid(&rows, Some(80));
        let shown: BTreeSet<&str> = text.lines().map(|line| line.split("  1").next().unwrap_or_default()).collect();
        assert_eq!(shown.len(), 5, "{text}");
    }

    /// Random tables and sentences: no line is wider than the terminal, and every number and every word that fits is whole.
    #[test]
    fn no_line_is_too_wide_and_nothing_short_is_broken() {
        let mut state = 3u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let words = [
            "no",
            "about",
            "75.3 GiB",
            "model.layers.*.post_attention_layernorm.weight",
            "instructions",
            "1,442,840,576",
            "中文",
            "\u{1b}[31m",
            "x\ty",
            "12 min",
        ];
        for _ in 0..300 {
            let (columns_of, rows_of) = (1 + random(9), 2 + random(6));
            let kinds: Vec<usize> = (0..columns_of).map(|_| random(3)).collect();
            let mut numbers = Vec::new();
            let mut cell = |kind: usize, row: usize| match (kind, row) {
                (_, 0) => "head".to_owned(),
                (0, _) => {
                    let number = format!("{}.{} GiB", random(1_000_000), random(10));
                    numbers.push(number.clone());
                    number
                }
                (1, _) => words[random(words.len())].to_owned(),
                _ => (0..random(9)).map(|_| words[random(words.len())]).collect::<Vec<_>>().join(" "),
            };
            let table: Vec<Vec<String>> =
                (0..rows_of).map(|row| kinds.iter().map(|&kind| cell(kind, row)).collect()).collect();
            for width in [60, 80, 120] {
                let text = fitted(&grid(&table, Some(width)), Some(width));
                let widest = text.lines().map(columns).max().unwrap_or(0);
                assert!(widest <= width, "{widest} of {width}\n{text}");
                assert!(numbers.iter().all(|number| text.contains(number.as_str())), "{numbers:?}\n{text}");
                assert!(!text.contains('\u{1b}') && !text.contains('\t'), "{text:?}");
                let sentence = table.concat().join(" ");
                let text = fitted(&sentence, Some(width)) + "\n" + &pairs(&[("name", sentence.clone())], Some(width));
                assert!(text.lines().all(|line| columns(line) <= width), "{text}");
                let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(
                    joined.starts_with(&visible(&sentence).split_whitespace().collect::<Vec<_>>().join(" ")),
                    "{text}"
                );
                assert!(numbers.iter().all(|number| text.contains(number.as_str())), "{numbers:?}\n{text}");
            }
        }
    }
}
