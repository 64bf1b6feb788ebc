//! `halite data`.

mod count;
mod examples;
mod pack;
mod progress;
mod show;

use crate::context::{Context, Output, Result};
use clap::{Args, Subcommand};
use halite_bundle::Bundle;
use halite_data::{Counted, DataConfig, check_marks};
use halite_support::{Diagnostic, codes};
use halite_train::{Feed, RecipeData};
use serde_json::{Value, json};
use std::path::Path;

/// Look at the data of a recipe, count it, or write its tokens.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  halite data show recipe.toml --rows 100
  halite data count recipe.toml
  halite data pack recipe.toml -o tokens.bin")]
pub(super) enum Data {
    Show(show::Show),
    Count(count::Count),
    Pack(pack::Pack),
}

impl Data {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        match self {
            Self::Show(command) => command.run(context),
            Self::Count(command) => command.run(context),
            Self::Pack(command) => command.run(context),
        }
    }
}

/// A recipe with data.
#[derive(Args, Debug)]
struct Input {
    /// Recipe, run, checkpoint, bundle, preset or model file.
    input: String,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// The training and held-out data of a recipe, opened.
struct Opened {
    data: RecipeData,
    /// Tokens of a row.
    width: usize,
}

impl Input {
    /// The bundle and its data.
    fn ready(&self, context: &mut Context) -> Result<(Bundle, RecipeData)> {
        let (_, bundle) = context.bundle(&self.input, &self.set)?;
        let Some(table) = bundle.manifest.recipe.data.clone() else {
            let error = Diagnostic::error(codes::USAGE, format!("`{}` names no data", self.input));
            let help = "name data in the recipe: `[data]` with `sources = [{ files = [..] }]`";
            return Err(error.help(help).into());
        };
        let data = RecipeData::new(&bundle, table, ".")?;
        Ok((bundle, data))
    }

    /// Documents and their tokens.
    fn open(&self, context: &mut Context) -> Result<Opened> {
        let (bundle, data) = self.ready(context)?;
        if data.train_config().has_examples()? {
            let error = Diagnostic::error(codes::USAGE, "the data are examples, which have no tokens to count");
            return Err(error.help("`halite data show` counts examples").into());
        }
        context.show(check_marks(data.train_config(), Path::new("."))?.as_slice());
        Ok(Opened { width: Feed::of_batch(&bundle)?.takes.width()?, data })
    }
}

impl Opened {
    /// Each configuration with what its sources are for.
    fn configs(&self) -> Vec<(&'static str, &DataConfig)> {
        let held_out = self.data.held_out_configs().iter().map(|config| ("held out", config));
        std::iter::once(("train", self.data.train_config())).chain(held_out).collect()
    }
}

/// Names a source in a table: its purpose, and its own name if it has one.
fn place(purpose: &str, counted: &Counted) -> String {
    format!("{purpose} {}", counted.source).trim_end().to_owned()
}

/// A row for each reason why something was left out; empty where nothing was.
fn skipped(all: &[(&str, &Counted)]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (purpose, counted) in all {
        for skipped in &counted.skipped {
            let count = crate::table::grouped(skipped.count);
            rows.push(vec![place(purpose, counted), skipped.reason.clone(), count, skipped.example.clone()]);
        }
    }
    if !rows.is_empty() {
        rows.insert(0, ["data", "skipped", "times", "first"].map(str::to_owned).to_vec());
    }
    rows
}

fn number_skipped(counted: &Counted) -> u64 {
    counted.skipped.iter().map(|skipped| skipped.count).sum()
}

/// The counts of a source, as JSON.
fn figures(purpose: &str, counted: &Counted) -> Value {
    let Counted { source, files, documents, tokens, skipped } = counted;
    let skipped: Vec<Value> = skipped
        .iter()
        .map(|skipped| json!({"reason": skipped.reason, "count": skipped.count, "example": skipped.example}))
        .collect();
    json!({"purpose": purpose, "source": source, "files": files, "documents": documents, "tokens": tokens, "skipped": skipped})
}
