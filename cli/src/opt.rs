//! `halite opt`.

use crate::context::{Context, Output, Result};
use crate::explain;
use crate::table::{grouped, table};
use clap::Args;
use halite::opt::{OptOptions, Optimized};
use halite_passes::{Changed, RunnerOptions};
use halite_support::files;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Run passes on IR text, and print what becomes of it.
///
/// The module is verified before, between and after the passes. `(a, b)*` repeats passes until nothing changes, `(a, b)*3` at
/// most 3 times instead of 8.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite opt step.ir --passes '(simplify, fold-constant, cse, dce)*'
  halite opt built.ir --recipe tiny \\
    --passes 'bind-recipe, auto-diff, clip, update' -o step.ir
  halite opt step.ir --passes 'cse, dce' --time
  halite opt step.ir --dot | dot -Tsvg > step.svg")]
pub(super) struct Opt {
    /// The IR text.
    file: String,
    /// Passes to run, by name and in order, separated by commas [default: none].
    #[arg(long, value_name = "PASSES", default_value = "", hide_default_value = true)]
    passes: String,
    /// The recipe for passes that need one: a preset or a recipe file.
    #[arg(long, value_name = "RECIPE")]
    recipe: Option<String>,
    /// Write the module here instead of to standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run only the first COUNT optimizations; required passes always run.
    #[arg(long, value_name = "COUNT")]
    bisect: Option<usize>,
    /// Show the time of each pass.
    #[arg(long)]
    time: bool,
    /// Show what passes decided and why, on standard error.
    #[arg(long)]
    explain: bool,
    /// Print the module as a graph in the DOT language.
    #[arg(long)]
    dot: bool,
}

impl Opt {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let recipe = match &self.recipe {
            Some(recipe) => Some(context.session.load(recipe, &[])?.recipe),
            None => None,
        };
        let text = files::read_text(Path::new(&self.file))?;
        let file = context.session.sources.add(&self.file, text);
        let runner = RunnerOptions { limit: self.bisect, ..RunnerOptions::default() };
        let (pipeline, explain) = (self.passes.parse()?, self.explain);
        let options = OptOptions { passes: pipeline, recipe, runner, explain, ..OptOptions::default() };
        let optimized = context.session.optimize(file, &options)?;
        let form =
            if self.dot { halite_ir::graph::dot(&optimized.module) } else { halite_ir::text::print(&optimized.module) };
        let times = if self.time { times(&optimized) } else { String::new() };
        let mut json = json!({"module": form, "passes": passes(&optimized)});
        if self.explain {
            let remarks = [("opt".into(), optimized.remarks.clone())];
            context.aside(&explain::explanation(&remarks));
            json["remarks"] = explain::json(&remarks);
        }
        match &self.output {
            Some(path) => {
                halite_disk::write(path, form.as_bytes())?;
                let text = format!("{times}wrote {}\n", path.display());
                Ok(Output { warnings: optimized.warnings, ..Output::new(text, json) })
            }
            None => {
                context.aside(&times);
                Ok(Output { warnings: optimized.warnings, ..Output::verbatim(form, json) })
            }
        }
    }
}

fn passes(optimized: &Optimized) -> Vec<serde_json::Value> {
    let report = |report: &halite_passes::PassReport| {
        json!({
            "name": &*report.name,
            "changed": report.changed == Changed::Yes,
            "instructions": report.insts,
            "microseconds": report.time.as_micros() as u64,
            "verify_microseconds": report.verify_time.as_micros() as u64,
        })
    };
    optimized.reports.iter().map(report).collect()
}

fn times(optimized: &Optimized) -> String {
    let head = ["pass", "ms", "verify ms", "instructions", "changed"].map(str::to_owned).to_vec();
    let milliseconds = |time: std::time::Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
    let rows = optimized.reports.iter().map(|report| {
        let changed = if report.changed == Changed::Yes { "yes" } else { "no" };
        let times = [milliseconds(report.time), milliseconds(report.verify_time)];
        let [time, verify_time] = times;
        vec![report.name.to_string(), time, verify_time, grouped(report.insts as u64), changed.to_owned()]
    });
    table(&[head].into_iter().chain(rows).collect::<Vec<_>>())
}
