//! `halite train`.

use super::bars::{self, TrainBar};
use super::compile::denied;
use super::context::{Context, Output, Ready, Result};
use super::table::{bytes, facts};
use clap::Args;
use halite::files;
use halite::train::{Corpus, History, RunFiles, Start, TrainOptions, check_corpus, train};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Train on text, with byte tokens, on the CPU.
///
/// INPUT is a bundle or what `halite compile` takes. Writes metrics.jsonl, loss.svg and state.safetensors. Equal inputs and
/// seeds give equal bits; a run that is resumed ends like one that was never interrupted.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite train tiny --text book.txt --steps 300
  halite train build/tiny --text a.txt b.txt --seed 7 -o runs/seed7
  halite train tiny --text book.txt --steps 600 \\
    --resume runs/tiny/state.safetensors
  halite train bytes.toml --text book.txt --weights model.safetensors")]
pub(super) struct Train {
    /// Preset, recipe, model file or bundle.
    input: String,
    /// Text files, in order.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    text: Vec<PathBuf>,
    /// Updates in all, those before a resumption included [default: that of the recipe].
    #[arg(long)]
    steps: Option<u64>,
    /// Seed of the weights, unless they are given, and of the order of data [default: that of the recipe].
    #[arg(long)]
    seed: Option<u64>,
    /// The folder of the run [default: runs/NAME].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Override a key of the recipe or of the model.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Do not train, and fail, when compiling gives a warning, such as a finding of the precision audit.
    #[arg(long)]
    deny: bool,
    /// Continue from this state.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Start from these weights, with a new optimizer: a safetensors file, the index of a sharded checkpoint, or its folder.
    #[arg(long, value_name = "PATH", conflicts_with = "resume")]
    weights: Option<PathBuf>,
    /// Share of the text, at its end, that is held out for evaluation.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    held_out: f64,
    /// Updates between evaluations; 0 evaluates at the start and the end only.
    #[arg(long, value_name = "STEPS", default_value_t = 50)]
    eval_every: u64,
    /// The most batches of one evaluation.
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    eval_batches: usize,
}

impl Train {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        if self.deny {
            context.require_recipe(&self.input, "--deny")?;
        }
        let texts = self.text.iter().map(|path| files::read(path)).collect::<halite_support::Result<Vec<_>>>();
        let corpus = Corpus::new(&texts?, self.held_out)?;
        let (name, Ready { bundle, warnings }) = context.ready(&self.input, &self.set)?;
        if self.deny && !warnings.is_empty() {
            return Ok(denied(warnings));
        }
        context.show(&warnings);
        let defaults = bundle.manifest.recipe.train;
        let options = TrainOptions {
            title: name.clone(),
            steps: self.steps.unwrap_or(defaults.steps.into()),
            seed: self.seed.unwrap_or(defaults.seed),
            start: self.start(),
            eval_every: self.eval_every,
            eval_batches: self.eval_batches,
            ..TrainOptions::default()
        };
        let output = RunFiles::new(self.output.clone().unwrap_or_else(|| PathBuf::from("runs").join(&name)));
        check_corpus(&bundle, &corpus)?;
        let executor = context.executor()?;
        let (text, held_out) = corpus.sizes();
        let spinner = bars::spinner(
            context,
            &format!("{name}: {} of text, {} held out; compiling with XLA", bytes(text as u64), bytes(held_out as u64)),
        );
        let mut bar = WithSpinner {
            spinner,
            bar: TrainBar::new(context, options.steps, bundle.manifest.statistics.tokens_per_step),
        };
        let history = train(Arc::new(executor), &bundle, &corpus, &options, &output, &mut bar);
        bar.spinner.finish_and_clear();
        bar.bar.finish();
        Ok(summary(&history?, &output))
    }

    fn start(&self) -> Start {
        match (&self.resume, &self.weights) {
            (Some(state), _) => Start::State(state.clone()),
            (None, Some(weights)) => Start::Weights(weights.clone()),
            (None, None) => Start::Seed,
        }
    }
}

/// A spinner while XLA compiles, then the bar.
struct WithSpinner {
    spinner: indicatif::ProgressBar,
    bar: TrainBar,
}

impl halite::train::Observer for WithSpinner {
    fn started(&mut self, step: u64) {
        self.spinner.finish_and_clear();
        self.bar.started(step);
    }

    fn stepped(&mut self, record: &halite::train::StepRecord) {
        self.bar.stepped(record);
    }

    fn evaluated(&mut self, record: &halite::train::EvalRecord) {
        self.bar.evaluated(record);
    }
}

fn summary(history: &History, output: &RunFiles) -> Output {
    let loss = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |loss| format!("{loss:.4}"));
    let ends = |first: Option<f64>, last: Option<f64>| format!("{} → {}", loss(first), loss(last));
    let (steps, evals) = (&history.steps, &history.evals);
    let train = (steps.first().map(|record| record.loss()), steps.last().map(|record| record.loss()));
    let held_out = (evals.first().map(|eval| eval.held_out_loss), evals.last().map(|eval| eval.held_out_loss));
    let text = facts(&[
        ("updates", steps.last().map_or(0, |record| record.step).to_string()),
        ("training loss", ends(train.0, train.1)),
        ("held-out loss", ends(held_out.0, held_out.1)),
        ("metrics", output.metrics().display().to_string()),
        ("plot", output.plot().display().to_string()),
        ("state", output.state().display().to_string()),
    ]);
    let json = json!({
        "updates": steps.last().map_or(0, |record| record.step),
        "loss": train.1,
        "held_out_loss": held_out.1,
        "metrics": output.metrics(),
        "plot": output.plot(),
        "state": output.state(),
    });
    Output::new(text, json)
}
