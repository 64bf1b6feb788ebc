//! `halite data count`.

use super::progress::Progress;
use super::{Input, figures, number_skipped, place, skipped};
use crate::context::{Context, Output, Result};
use crate::table::{grouped, table};
use clap::Args;
use halite_data::Counted;
use serde_json::{Value, json};
use std::path::Path;

/// Count the documents and tokens of all data of a recipe.
///
/// Everything is read and tokenized once.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  halite data count recipe.toml\n  halite data count recipe.toml --json")]
pub(crate) struct Count {
    #[command(flatten)]
    input: Input,
}

impl Count {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let opened = self.input.open(context)?;
        let mut progress = Progress::new(context);
        let mut found = Vec::new();
        for (purpose, config) in opened.configs() {
            let counted = halite_data::count(config, Path::new("."), &mut |counted| progress.show(purpose, counted))?;
            found.extend(counted.into_iter().map(|counted| (purpose, counted)));
        }
        progress.finish();
        Ok(output(&found.iter().map(|(purpose, counted)| (*purpose, counted)).collect::<Vec<_>>()))
    }
}

/// The counts of sources as a table and as JSON.
pub(super) fn output(found: &[(&str, &Counted)]) -> Output {
    let head = ["data", "files", "documents", "tokens", "skipped"].map(str::to_owned).to_vec();
    let row = |&(purpose, counted): &(&str, &Counted)| {
        let numbers = [counted.files as u64, counted.documents, counted.tokens, number_skipped(counted)];
        std::iter::once(place(purpose, counted)).chain(numbers.map(grouped)).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.iter().map(row)).collect();
    let skipped = skipped(found);
    let more = if skipped.is_empty() { String::new() } else { format!("\n{}", table(&skipped)) };
    let figures: Vec<Value> = found.iter().map(|(purpose, counted)| figures(purpose, counted)).collect();
    Output::new(table(&rows) + &more, json!({ "data": figures }))
}
