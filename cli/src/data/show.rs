//! `halite data show`.

use super::progress::Progress;
use super::{Input, examples, figures, number_skipped, place, skipped};
use crate::context::{Context, Output, Result};
use crate::table::{counted, grouped, table};
use clap::Args;
use halite_data::{Statistics, Tokenizer, open_tokenizer};
use serde_json::{Value, json};
use std::path::Path;

/// The most characters of a piece that people are shown.
const SHOWN: usize = 40;

/// Summarize the data set of a recipe: documents, tokens, rows and the first row as text, or examples.
///
/// A row holds `seq` tokens and the last label, packed as the recipe trains on them; `filled` is the share of rows that is not padding.
/// With --rows only the beginning of each source is read and packed, in an order of files that need not be that of a run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  halite data show recipe.toml\n  halite data show recipe.toml --rows 100")]
pub(crate) struct Show {
    #[command(flatten)]
    input: Input,
    /// Look at about the first so many rows of each source [default: all].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    rows: Option<u64>,
}

/// The summary of a source: its purpose, its statistics, and the text of its first row, piece by piece.
struct Found {
    purpose: &'static str,
    statistics: Statistics,
    first: Vec<String>,
}

impl Show {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let (bundle, data) = self.input.ready(context)?;
        if data.train_config().has_examples()? {
            return examples::show(&bundle, &data);
        }
        let opened = self.input.open(context)?;
        let mut progress = Progress::new(context);
        let mut found = Vec::new();
        for (purpose, config) in opened.configs() {
            let base = Path::new(".");
            let mut observe = |counted: &_| progress.show(purpose, counted);
            let tokenizer = open_tokenizer(&config.tokenizer, base)?;
            for statistics in halite_data::statistics(config, base, opened.width, self.rows, &mut observe)? {
                let pieces = statistics.first.iter().map(|piece| text(tokenizer.as_ref(), piece));
                let first = pieces.collect::<halite_support::Result<_>>()?;
                found.push(Found { purpose, statistics, first });
            }
        }
        progress.finish();
        let json = json!({"width": opened.width, "data": found.iter().map(measured).collect::<Vec<_>>()});
        Ok(Output::new(shown(&found, opened.width), json))
    }
}

/// The text of tokens; ids that only a mark has are `<ID>`.
fn text(tokenizer: &dyn Tokenizer, tokens: &[i32]) -> halite_support::Result<String> {
    let is_known = |id: i32| (id as u64) < tokenizer.vocabulary();
    let runs = tokens.chunk_by(|a, b| is_known(*a) == is_known(*b));
    let of_run = |run: &[i32]| {
        if is_known(run[0]) { tokenizer.decode(run) } else { Ok(run.iter().map(|id| format!("<{id}>")).collect()) }
    };
    runs.map(of_run).collect()
}

fn shown(found: &[Found], width: usize) -> String {
    let parts: Vec<_> = found.iter().map(|found| (found.purpose, &found.statistics.counted)).collect();
    let tables = [sizes(found), firsts(found), skipped(&parts)];
    let tables: Vec<String> = tables.iter().filter(|rows| !rows.is_empty()).map(|rows| table(rows)).collect();
    let partial =
        if found.iter().all(|found| found.statistics.is_whole) { "" } else { "; `+`: only the beginning was read" };
    format!("{}\n  rows of {}{partial}\n", tables.join("\n"), counted(width, "token"))
}

/// A row for each source. What was not read to its end has a `+`.
fn sizes(found: &[Found]) -> Vec<Vec<String>> {
    let head =
        ["data", "files", "documents", "tokens", "each", "skipped", "rows", "filled"].map(str::to_owned).to_vec();
    let row = |found: &Found| {
        let Statistics { counted, is_whole, rows, efficiency, .. } = &found.statistics;
        let mark = if *is_whole { "" } else { "+" };
        let each = counted.tokens as f64 / counted.documents.max(1) as f64;
        vec![
            place(found.purpose, counted) + mark,
            grouped(counted.files as u64),
            grouped(counted.documents),
            grouped(counted.tokens),
            format!("{each:.1}"),
            grouped(number_skipped(counted)),
            grouped(*rows),
            format!("{:.2}%", 100.0 * efficiency),
        ]
    };
    std::iter::once(head).chain(found.iter().map(row)).collect()
}

/// A row for each piece of the first row of each source.
fn firsts(found: &[Found]) -> Vec<Vec<String>> {
    let head = ["data", "tokens", "first row"].map(str::to_owned).to_vec();
    let rows = found.iter().flat_map(|found| {
        let pieces = found.statistics.first.iter().zip(&found.first);
        pieces.map(|(tokens, text)| {
            vec![place(found.purpose, &found.statistics.counted), grouped(tokens.len() as u64), cut(text)]
        })
    });
    std::iter::once(head).chain(rows).collect()
}

/// A piece on one line: its begin and, for the mark there, its end.
fn cut(text: &str) -> String {
    let escaped = |character: char| {
        if character.is_control() { character.escape_default().to_string() } else { character.to_string() }
    };
    let characters: Vec<char> = text.chars().map(escaped).collect::<String>().chars().collect();
    if characters.len() <= SHOWN {
        return characters.iter().collect();
    }
    let (begin, end) = (&characters[..SHOWN * 2 / 3], &characters[characters.len() - SHOWN / 3..]);
    begin.iter().chain(&['…']).chain(end).collect()
}

fn measured(found: &Found) -> Value {
    let Statistics { counted, is_whole, rows, efficiency, .. } = &found.statistics;
    let mut figures = figures(found.purpose, counted);
    figures["whole"] = json!(is_whole);
    figures["rows"] = json!(rows);
    figures["efficiency"] = json!(efficiency);
    figures["first_row"] = json!(found.first);
    figures
}
