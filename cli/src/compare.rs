//! `halite compare`.

use crate::context::{Context, Output, Result};
use crate::table::table;
use clap::Args;
use halite_page::{Compared, Comparison};
use halite_support::{Diagnostic, codes};
use halite_train::RunFiles;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Compare runs: curves beside one another, and how their recipes differ.
///
/// Each RUN is the folder of a run, which may still go on. Prints what the runs came to and which keys of their recipes differ. With `-o`
/// it also writes a page with the curves of all runs, and the loss as a picture.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite compare runs/a runs/b
  halite compare runs/* -o compared")]
pub(super) struct Compare {
    /// Folders of runs, or checkpoints of them.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// Write the curves to this folder, as `compare.html` and `loss.svg`.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Compare {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let runs = self.runs.iter().map(|path| read(context, path)).collect::<Result<Vec<Compared>>>()?;
        let compared = Comparison::new(runs)?;
        let page = self.output.as_deref().map(|folder| write(&compared, folder)).transpose()?;
        let mut text = table(&compared.losses());
        if compared.differences().is_empty() {
            text.push_str("\ntheir recipes are the same\n");
        } else {
            text.push_str(&format!("\n{}", table(&compared.rows(cut))));
        }
        text.push_str(&match &page {
            Some(page) => format!("\nwrote {}\n", page.display()),
            None => "\n`-o DIR` writes their curves: compare.html, and the loss alone as loss.svg\n".to_owned(),
        });
        let differences = compared.differences().iter().map(|(key, values)| json!({"key": key, "values": values}));
        let json = json!({
            "runs": compared.runs().iter().map(came_to).collect::<Vec<_>>(),
            "differences": differences.collect::<Vec<_>>(),
            "page": page,
        });
        Ok(Output::new(text, json))
    }
}

/// Writes the curves to a folder; the page of them.
fn write(compared: &Comparison, folder: &Path) -> Result<PathBuf> {
    let (page, loss) = (folder.join("compare.html"), folder.join("loss.svg"));
    let (curves, picture) = (compared.page()?, compared.loss()?);
    halite_disk::write(&page, curves.as_bytes())?;
    halite_disk::write(&loss, picture.as_bytes())?;
    Ok(page)
}

/// The name, last update and losses of a run, as JSON.
fn came_to(run: &Compared) -> serde_json::Value {
    let last = run.history.steps.last();
    json!({
        "run": run.name,
        "updates": last.map_or(0, |record| record.step),
        "loss": last.map(|record| record.loss()),
        "held_out_loss": run.history.evals.last().map(|record| record.held_out_loss),
    })
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
fn read(context: &mut Context, path: &Path) -> Result<Compared> {
    let name = path.display().to_string().trim_end_matches('/').to_owned();
    let files = RunFiles::at(path).ok_or_else(|| {
        let error = Diagnostic::error(codes::INPUT, format!("`{name}` is not the folder of a run"));
        error.help("give folders that `halite train` wrote")
    })?;
    let recipe = context.session.recipe_at(&files.recipe())?;
    let (model, history) = (files.model_sum(&recipe)?, files.measured(u64::MAX)?);
    Ok(Compared { name, recipe, model, history })
}
