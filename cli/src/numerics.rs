//! `halite numerics`.

use crate::bars::NumericsBar;
use crate::context::{Context, Output, Result};
use crate::study::{Comparison, NumericsOptions, load_recipe};
use crate::table::{short, table};
use crate::texts::Texts;
use clap::Args;
use halite::source::Source;
use halite_data::Packing;
use halite_page::plot;
use halite_page::study::{NumericsReport, RecipeReport, RecipeSummary};
use halite_support::{Diagnostic, codes};
use halite_train::RecipeData;
use indexmap::IndexMap;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Compare precision recipes by training under each.
///
/// All runs start from one state and see one order of data.
/// A RECIPE is a precision (fp32, mixed, mixed-sr, bf16-sr, bf16, fp64) or a recipe file, whose precision and optimizer replace
/// those of the model's recipe. Gradients are compared with those of the reference at the weights of each run. Writes numerics.svg and
/// numerics.json. A run that diverges is a result.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite numerics fp32 mixed bf16 --text book.txt --steps 300
  halite numerics mixed bf16-sr beta2.toml --text book.txt --seeds 0,1,2
  halite numerics bf16 --model llama-7b --set layers=2 --set hidden=256 \\
    --against fp32 --text book.txt -o runs/bf16")]
pub(super) struct Numerics {
    /// Precisions (fp32, mixed, mixed-sr, bf16-sr, bf16, fp64) and recipe files to compare.
    #[arg(value_name = "RECIPE", required = true)]
    recipes: Vec<String>,
    /// The reference that all recipes are compared with.
    #[arg(long, value_name = "RECIPE", default_value = "fp64")]
    against: String,
    /// Preset, built-in model, recipe or model file.
    #[arg(long, value_name = "INPUT", default_value = "tiny")]
    model: String,
    #[command(flatten)]
    texts: Texts,
    /// Updates of each run [default: that of the model's recipe].
    #[arg(long)]
    steps: Option<u64>,
    /// Seeds of the state and of the order of data, one run of each recipe for each seed.
    #[arg(long, alias = "seed", value_name = "SEED", value_delimiter = ',', default_value = "0")]
    seeds: Vec<u64>,
    /// Updates between measurements of the gradient error; 0 measures none.
    #[arg(long, value_name = "STEPS", default_value_t = 25)]
    every: u64,
    /// Updates between evaluations; 0 evaluates at the start and the end only.
    #[arg(long, value_name = "STEPS", default_value_t = 25)]
    eval_every: u64,
    /// The most batches of one evaluation.
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    eval_batches: usize,
    /// The folder of the results.
    #[arg(short, long, value_name = "DIR", default_value = "runs/numerics")]
    output: PathBuf,
    /// Set a key of every recipe (`batch=4`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Numerics {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let Some(table) = self.texts.table()? else {
            let error = Diagnostic::error(codes::USAGE, "no data to train on");
            return Err(error.help("give text files with `--text`").into());
        };
        let data = RecipeData::packed(table, ".", Packing::InOrder)?;
        let mut load = |recipe: &String| load_recipe(recipe, &self.model, &self.set, &mut context.session);
        let recipes = self.recipes.iter().map(&mut load).collect::<Result<Vec<Source>>>()?;
        let against = load(&self.against)?;
        let options = self.options(&against)?;
        let context = &*context;
        let comparison = Comparison::new(&context.session, recipes, against, &data)?;
        let tokens = comparison.tokens_per_step();
        let executor = context.executor(comparison.num_ranks())?;
        let runs = (comparison.num_recipes() * options.seeds.len()) as u64;
        let mut bar = NumericsBar::new(context, runs, options.steps, tokens);
        let report = comparison.run(Arc::new(executor), &options, &mut bar);
        bar.finish();
        self.write(&report?, &bar.tokens_per_second())
    }

    fn options(&self, source: &Source) -> Result<NumericsOptions> {
        let mut seeds = self.seeds.clone();
        seeds.sort_unstable();
        if let Some(pair) = seeds.windows(2).find(|pair| pair[0] == pair[1]) {
            let error = Diagnostic::error(codes::USAGE, format!("the seed {} is given twice", pair[0]));
            return Err(error.help("give each seed once, e.g. `--seeds 0,1,2`").into());
        }
        let steps = self.steps.unwrap_or(source.recipe.train.steps.into());
        if steps == 0 {
            let error = Diagnostic::error(codes::USAGE, "a run of 0 updates compares nothing");
            return Err(error.help("give e.g. `--steps 300`").into());
        }
        let &Self { every, eval_every, eval_batches, .. } = self;
        Ok(NumericsOptions { steps, seeds: self.seeds.clone(), every, eval_every, eval_batches })
    }

    fn write(&self, report: &NumericsReport, rates: &IndexMap<String, f64>) -> Result<Output> {
        let summary = report.summary();
        let (data, picture) = (self.output.join("numerics.json"), self.output.join("numerics.svg"));
        let text = json!({"summary": summary, "report": report}).to_string() + "\n";
        halite_disk::write(&data, text.as_bytes())?;
        halite_disk::write(&picture, plot::numerics(report)?.as_bytes())?;
        let places = format!("\n  plot  {}\n  data  {}\n", picture.display(), data.display());
        let json = json!({"summary": summary, "tokens_per_second": rates, "plot": picture, "data": data});
        Ok(Output::new(describe(report, &summary, rates) + &places, json))
    }
}

/// The legend of the table's columns.
const LEGEND: &str = "  deviation  of the training loss from the reference, root mean square over the second half
  max |g|    largest gradient norm
  g error    of the gradients of a layer, relative to those of the reference at the same weights
";

fn describe(report: &NumericsReport, summary: &[RecipeSummary], rates: &IndexMap<String, f64>) -> String {
    let seeds = report.recipes.first().map_or(&[][..], |recipe| &recipe.runs).iter().map(|run| run.seed);
    let layers = report.first_and_last_layer().map_or_else(Vec::new, |(first, last)| vec![first, last]);
    let layers: BTreeSet<usize> = layers.into_iter().collect();
    let name = |layer: usize| report.layers[layer].rsplit('.').next().unwrap_or_default().to_owned();
    let mut head = vec!["recipe".to_owned()];
    head.extend(seeds.map(|seed| format!("seed {seed}")));
    head.extend(["median".to_owned(), format!("vs {}", report.against)]);
    head.extend(["deviation", "max |g|"].map(str::to_owned));
    head.extend(layers.iter().map(|&layer| format!("g error {}", name(layer))));
    head.extend(["B/param", "tokens/s"].map(str::to_owned));
    let row = |(recipe, summary): (&RecipeReport, &RecipeSummary)| {
        let mut row = vec![summary.name.clone()];
        row.extend(summary.held_out.iter().chain([&summary.median]).map(|&value| loss(value)));
        row.push(summary.percent());
        row.extend([loss(summary.loss_deviation), format!("{:.2}", summary.max_grad_norm)]);
        let errors = layers.iter().map(|&layer| summary.gradient_error[layer]);
        row.extend(errors.map(|error| if error.is_nan() { "-".to_owned() } else { format!("{error:.1e}") }));
        row.push(format!("{:.2}", recipe.state_bytes_per_parameter));
        row.push(rates.get(&summary.name).map_or_else(|| "-".to_owned(), |&rate| short(rate as u64)));
        row
    };
    let rows = report.recipes.iter().zip(summary).map(row);
    let all: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
    format!("  held-out loss after {} updates\n\n{}\n{LEGEND}", report.steps, table(&all))
}

fn loss(value: f64) -> String {
    if value.is_finite() { format!("{value:.4}") } else { "diverged".to_owned() }
}
