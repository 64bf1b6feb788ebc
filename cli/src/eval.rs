//! `halite eval`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::learned::Learned;
use crate::table::{grouped, table};
use clap::Args;
use halite_bundle::ModuleRole;
use halite_data::Dataset;
use halite_support::files;
use halite_train::{Corpus, Evaluated, Evaluator, Feed};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Measure the loss and the perplexity of a model on texts, with byte tokens.
///
/// INPUT is a bundle with the role `eval`, or what `halite compile` takes. Each text is cut into sequences that follow one another, and is
/// measured on its own. Nothing is trained.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite eval tiny --state runs/tiny/state.safetensors --data book.txt
  halite eval build/tiny --weights model.safetensors --data a.txt b.txt")]
pub(super) struct Eval {
    /// Preset, recipe, model file or bundle.
    input: String,
    #[command(flatten)]
    learned: Learned,
    /// Text files, each a data set.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    data: Vec<PathBuf>,
    /// The most batches of a data set.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    batches: Option<u32>,
    /// Override a key of the recipe or of the model.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Eval {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let (name, bundle) = context.bundle(&self.input, &self.set)?;
        bundle.module_with_role(&ModuleRole::EVAL)?;
        let feed = Feed::of_batch(&bundle)?;
        let data = self.data.iter().map(|path| open(path, &feed)).collect::<halite_support::Result<Vec<_>>>()?;
        let state = self.learned.read(&bundle)?;
        let executor = Arc::new(context.executor(bundle.manifest.mesh.num_ranks())?);
        let spinner = bars::spinner(context, &format!("{name}: compiling with XLA"));
        let mut evaluator = Evaluator::load(executor, &bundle, state)?;
        let most = self.batches.map_or(usize::MAX, |batches| batches as usize);
        let mut found = Vec::new();
        for (path, mut data) in self.data.iter().zip(data) {
            let place = path.display().to_string();
            spinner.set_message(format!("{name}: measuring {place}"));
            found.push((place, evaluator.evaluate(data.as_mut(), most)?));
        }
        spinner.finish_and_clear();
        Ok(Output::new(shown(&found), json!({ "data": found.iter().map(measured).collect::<Vec<_>>() })))
    }
}

/// A text as a data set for the batches of a model, which knows its tokens.
fn open(path: &Path, feed: &Feed) -> halite_support::Result<Box<dyn Dataset>> {
    let data = Corpus::in_order(files::read(path)?, feed.width);
    let data = data.map_err(|error| error.context(format!("`{}`", path.display())))?;
    feed.check(data.as_ref())?;
    Ok(data)
}

/// A row for each data set.
fn shown(found: &[(String, Evaluated)]) -> String {
    let head = ["data", "loss", "perplexity", "tokens"].map(str::to_owned).to_vec();
    let row = |(place, evaluated): &(String, Evaluated)| {
        let Evaluated { loss, tokens } = evaluated;
        vec![place.clone(), format!("{loss:.4}"), format!("{:.4}", evaluated.perplexity()), grouped(*tokens)]
    };
    table(&[head].into_iter().chain(found.iter().map(row)).collect::<Vec<_>>())
}

fn measured((place, evaluated): &(String, Evaluated)) -> serde_json::Value {
    let Evaluated { loss, tokens } = evaluated;
    json!({"data": place, "loss": loss, "perplexity": evaluated.perplexity(), "tokens": tokens})
}
