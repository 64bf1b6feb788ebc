//! `halite compare`.

use crate::context::{Context, Output, Result};
use crate::measured::of_model;
use crate::page::curves::{MEASURED, figure, finite, line, metric, smooth};
use crate::page::html::escaped;
use crate::plot::{Curve, HELD_OUT, Point, panel};
use crate::table::{grouped, table};
use clap::Args;
use halite_recipe::Recipe;
use halite_support::files::read_text;
use halite_support::{Diagnostic, codes};
use halite_train::{History, RunFiles, differences};
use plotters::style::RGBColor;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Compare runs: curves beside one another, and how their recipes differ.
///
/// Each RUN is the folder of a run, which may still go on. Writes a page with the curves of all runs, the loss as a picture beside it, and
/// prints what the runs came to and which keys of their recipes differ.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite compare runs/a runs/b
  halite compare runs/* -o compared")]
pub(super) struct Compare {
    /// Folders of runs, or checkpoints of them.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// The folder to write `compare.html` and `loss.svg` to.
    #[arg(short, long, value_name = "DIR", default_value = "compare")]
    output: PathBuf,
}

/// A run.
struct Run {
    name: String,
    recipe: Recipe,
    /// The beginning of the SHA-256 of the model's text, where that is a file's.
    model: Option<String>,
    history: History,
    color: RGBColor,
}

impl Compare {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let colors = std::iter::once(MEASURED).chain(HELD_OUT).cycle();
        let runs = self.runs.iter().zip(colors).map(|(path, color)| read(context, path, color));
        let runs = runs.collect::<Result<Vec<Run>>>()?;
        let mut differ = differences(&runs.iter().map(|run| &run.recipe).collect::<Vec<_>>())?;
        let models: Vec<Option<String>> = runs.iter().map(|run| run.model.clone()).collect();
        if models.iter().any(|model| *model != models[0]) {
            differ.insert(0, ("text of the model".to_owned(), models));
        }
        let page = page(&runs, &differ)?;
        let loss = panel(curves(&runs, "loss"), &[], false)?;
        let folder = &self.output;
        halite_disk::write(&folder.join("compare.html"), page.as_bytes())?;
        halite_disk::write(&folder.join("loss.svg"), loss.as_bytes())?;
        let mut text = table(&losses(&runs));
        if differ.is_empty() {
            text.push_str("\ntheir recipes are the same\n");
        } else {
            text.push_str(&format!("\n{}", table(&rows(&runs, &differ, cut))));
        }
        text.push_str(&format!("\nwrote {}\n", folder.join("compare.html").display()));
        let of_run = |run: &Run| {
            let last = run.history.steps.last();
            json!({
                "run": run.name,
                "updates": last.map_or(0, |record| record.step),
                "loss": last.map(|record| record.loss()),
                "held_out_loss": run.history.evals.last().map(|record| record.held_out_loss),
            })
        };
        let json = json!({
            "runs": runs.iter().map(of_run).collect::<Vec<_>>(),
            "differences": differ.iter().map(|(key, values)| json!({"key": key, "values": values})).collect::<Vec<_>>(),
            "page": folder.join("compare.html"),
        });
        Ok(Output::new(text, json))
    }
}

/// The most characters of a value that are printed.
const SHOWN: usize = 32;

/// A value, or its end where it is long: paths differ there.
fn cut(value: &str) -> String {
    let count = value.chars().count();
    if count <= SHOWN {
        return value.to_owned();
    }
    std::iter::once('…').chain(value.chars().skip(count + 1 - SHOWN)).collect()
}

/// The run that a path leads to.
fn read(context: &mut Context, path: &Path, color: RGBColor) -> Result<Run> {
    let name = path.display().to_string().trim_end_matches('/').to_owned();
    let files = RunFiles::at(path).ok_or_else(|| {
        let error = Diagnostic::error(codes::INPUT, format!("`{name}` is not the folder of a run"));
        error.help("give folders that `halite train` wrote")
    })?;
    let recipe = context.load(&files.recipe().display().to_string(), &[])?.recipe;
    let metrics = files.metrics();
    // A model that is a file's is kept beside the recipe, which names it.
    let model = path_of_model(&files, &recipe).map(|path| read_text(&path)).transpose()?;
    let model = model.map(|text| halite_bundle::sha256(text.as_bytes()).chars().take(12).collect());
    let history = if metrics.is_file() { History::parse(&read_text(&metrics)?, &metrics)? } else { History::default() };
    Ok(Run { name, recipe, model, history, color })
}

/// The model of a run, where it is a file's.
fn path_of_model(files: &RunFiles, recipe: &Recipe) -> Option<PathBuf> {
    let path = files.recipe().with_file_name(&recipe.model.name);
    (path.extension().is_some_and(|extension| extension == "hal") && path.is_file()).then_some(path)
}

/// What each run came to.
fn losses(runs: &[Run]) -> Vec<Vec<String>> {
    let head = ["run", "updates", "seen", "training loss", "held-out loss"].map(str::to_owned).to_vec();
    let row = |run: &Run| {
        let (last, eval) = (run.history.steps.last(), run.history.evals.last());
        let seen =
            last.map_or_else(String::new, |record| format!("{} {}", grouped(record.seen.number()), record.seen.unit()));
        vec![
            run.name.clone(),
            last.map_or_else(|| "0".to_owned(), |record| grouped(record.step)),
            seen,
            last.map_or_else(String::new, |record| format!("{:.4}", record.loss())),
            eval.map_or_else(String::new, |record| format!("{:.4}", record.held_out_loss)),
        ]
    };
    std::iter::once(head).chain(runs.iter().map(row)).collect()
}

/// A row for each key in which recipes differ, with the values of all runs as they are shown.
fn rows(runs: &[Run], differ: &[(String, Vec<Option<String>>)], shown: fn(&str) -> String) -> Vec<Vec<String>> {
    let head = std::iter::once("recipe".to_owned()).chain(runs.iter().map(|run| run.name.clone())).collect();
    let row = |(key, values): &(String, Vec<Option<String>>)| {
        let values = values.iter().map(|value| shown(value.as_deref().unwrap_or_default()));
        std::iter::once(key.clone()).chain(values).collect()
    };
    std::iter::once(head).chain(differ.iter().map(row)).collect()
}

/// The smooth curves of something that updates measured.
fn curves(runs: &[Run], name: &str) -> Vec<Curve> {
    runs.iter().map(|run| smooth(metric(&run.history, name), run.color)).collect()
}

/// The names of runs with their colours.
fn legend(runs: &[Run]) -> Vec<(String, RGBColor)> {
    runs.iter().map(|run| (run.name.clone(), run.color)).collect()
}

fn figure_of(runs: &[Run], title: &str, name: &str) -> halite_support::Result<String> {
    figure(&escaped(title), &legend(runs), curves(runs, name), &[], false)
}

/// The held-out loss of all runs.
fn held_out(runs: &[Run]) -> halite_support::Result<String> {
    let points = |run: &Run| {
        let first = run.history.evals.first().map(|record| record.data.clone()).unwrap_or_default();
        let own = run.history.evals.iter().filter(|record| record.data == first);
        own.map(|record| (record.step as f64, record.held_out_loss)).collect::<Vec<Point>>()
    };
    let curves = runs.iter().map(|run| line(finite(points(run)), run.color)).collect();
    figure("Held-out loss", &legend(runs), curves, &[], false)
}

/// All curves and what differs, as a page that needs no other file.
fn page(runs: &[Run], differ: &[(String, Vec<Option<String>>)]) -> halite_support::Result<String> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in runs.iter().filter_map(|run| run.history.steps.last()).flat_map(of_model) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut curves = figure_of(runs, "Training loss", "loss")? + &held_out(runs)?;
    for name in names.into_iter().chain(["grad_norm"]) {
        let title = if name == "grad_norm" { "Norm of the gradient" } else { name };
        curves.push_str(&figure_of(runs, title, name)?);
    }
    // Names stand on the left, in the first row and the first column.
    let row = |(number, cells): (usize, &Vec<String>)| {
        let tag = |column: usize| if number == 0 || column == 0 { "th" } else { "td" };
        let cell = |(column, value): (usize, &String)| format!("<{0}>{1}</{0}>", tag(column), escaped(value));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let of_rows = |rows: &[Vec<String>]| rows.iter().enumerate().map(row).collect::<String>();
    Ok(format!(
        include_str!("compare.html"),
        title = escaped(&runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", ")),
        style = include_str!("page/page.css"),
        curves = curves,
        losses = of_rows(&losses(runs)),
        differences = of_rows(&rows(runs, differ, str::to_owned)),
    ))
}
