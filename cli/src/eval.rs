//! `halite eval`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::learned::Learned;
use crate::table::{grouped, table};
use clap::Args;
use halite_bundle::ModuleRole;
use halite_train::{Evaluated, Evaluator, measured_data};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Measure the loss of a model on data, and its perplexity and metrics.
///
/// INPUT is a run or a checkpoint; or, with `--state` or `--weights`, a bundle or what `halite compile` takes. Each data set is measured
/// on its own: the files of `--data`, else what the recipe or the run holds out. Nothing is trained.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite eval runs/tiny
  halite eval runs/tiny/checkpoints/00000300 --data book.txt
  halite eval build/tiny --weights model.safetensors --data a.txt b.txt
  halite eval recipe.toml --state runs/tiny")]
pub(super) struct Eval {
    /// Run, checkpoint, bundle, preset, recipe or model file to measure.
    input: String,
    #[command(flatten)]
    learned: Learned,
    /// Files of text or JSON lines, each measured as a data set [default: the held-out data of the recipe or run].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    data: Vec<PathBuf>,
    /// `bytes`, or a tokenizer.json of Hugging Face [default: that of the recipe's data, else bytes].
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    /// Maximum number of batches of each data set [default: all].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    batches: Option<u32>,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Eval {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let (name, ready) = context.ready(&self.input, &self.set)?;
        context.show(&ready.warnings);
        let (bundle, weights) = self.learned.of(ready)?;
        bundle.modules_with_role(&ModuleRole::EVAL)?;
        let data = measured_data(&bundle, &self.data, self.tokenizer.as_deref())?;
        let state = weights.read(&bundle)?;
        let executor = Arc::new(context.executor(bundle.manifest.num_ranks())?);
        let spinner = bars::spinner(context, &format!("{name}: compiling with XLA"));
        let mut evaluator = Evaluator::load(executor, &bundle, state)?;
        let most = self.batches.map_or(usize::MAX, |batches| batches as usize);
        let mut tell = |place: &str| spinner.set_message(format!("{name}: measuring {place}"));
        let (found, warnings) = evaluator.evaluate_each(data, most, &mut tell)?;
        spinner.finish_and_clear();
        context.show(&warnings);
        Ok(Output::new(shown(&found), json!({ "data": found.iter().map(measured).collect::<Vec<_>>() })))
    }
}

/// A row for each data set.
fn shown(found: &[(String, Evaluated)]) -> String {
    let Some((_, first)) = found.first() else { return String::new() };
    let perplexity = first.perplexity().map(|_| "perplexity");
    let head = ["data", "loss"].into_iter().chain(perplexity).chain([first.counted.unit()]);
    let head = head.map(str::to_owned).chain(first.metrics.keys().cloned()).collect();
    let row = |(place, evaluated): &(String, Evaluated)| {
        let Evaluated { loss, counted, metrics, .. } = evaluated;
        let own = [place.clone(), format!("{loss:.4}")].into_iter();
        let own = own.chain(evaluated.perplexity().map(|perplexity| format!("{perplexity:.4}")));
        own.chain([grouped(counted.number())]).chain(metrics.values().map(|value| format!("{value:.4}"))).collect()
    };
    table(&[head].into_iter().chain(found.iter().map(row)).collect::<Vec<_>>())
}

fn measured((place, evaluated): &(String, Evaluated)) -> serde_json::Value {
    let Evaluated { loss, counted, metrics, .. } = evaluated;
    let mut json = json!({"data": place, "loss": loss, "metrics": metrics});
    json[counted.unit()] = json!(counted.number());
    if let Some(perplexity) = evaluated.perplexity() {
        json["perplexity"] = json!(perplexity);
    }
    json
}
