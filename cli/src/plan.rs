//! `halite plan`.

mod amounts;
mod calibration;
mod run;
mod show;

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::counted;
use amounts::tokens;
use clap::Args;
use halite_bundle::Manifest;
use halite_plan::{Bill, Considered, Plan as Found, Planned, Question, Search};
use halite_recipe::{Recipe, TargetName};
use halite_support::{Diagnostic, codes};
use halite_target::estimate::time::Machine;
use std::path::PathBuf;

/// Estimate what training takes: time by cause, memory, money; find the best layout for a number of instances.
///
/// INPUT is what `halite compile` takes. Without `--nodes`, the layout that the recipe states is compiled and its bill shown. With
/// `--nodes`, layouts that use all of them are searched: those that shallow models tell to be best are compiled whole and ranked by the
/// time of an update. `--set` states a key for all of them.
///
/// Times are arithmetic over the compiled programs and tables of the hardware; nothing is run. `--calibration` shows what the same
/// arithmetic says of published figures.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite plan hlat-7b --target trn1
  halite plan hlat-7b --target trn1 --nodes 32 --sequences 1024
  halite plan llama-7b --target trn2 --nodes 16 --sequences 1024 --tokens 1T
  halite plan hlat-7b --target trn1 --nodes 4 --plot plan.svg --explain
  halite plan hlat-70b --target trn2 --nodes 64 --sequences 1024 -o best.toml
  halite plan --calibration")]
pub(super) struct Plan {
    /// Preset, built-in model, recipe or model file.
    #[arg(required_unless_present = "calibration")]
    input: Option<String>,
    /// The target to plan for [default: that of the recipe].
    #[arg(long)]
    target: Option<String>,
    /// Search the layouts that use this many instances.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    nodes: Option<u64>,
    /// Sequences of an update over all ranks [default: as the recipe states].
    #[arg(long, value_name = "N", requires = "nodes", value_parser = clap::value_parser!(u64).range(1..))]
    sequences: Option<u64>,
    /// Also tell the time and the cost of training on so many tokens: `300B`, `1.8T`.
    #[arg(long, value_name = "N", value_parser = tokens)]
    tokens: Option<f64>,
    /// Set a key of the recipe or of the model; with `--nodes`, on every layout. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Show this many layouts.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "nodes")]
    top: usize,
    /// Write the recipe with the best layout to a file.
    #[arg(short, long, value_name = "FILE", requires = "nodes")]
    output: Option<PathBuf>,
    /// Draw the layouts to an SVG file: memory of a rank against tokens per second.
    #[arg(long, value_name = "FILE", requires = "nodes")]
    plot: Option<PathBuf>,
    /// Show what the search considered, and why layouts were dropped.
    #[arg(long, requires = "nodes")]
    explain: bool,
    /// Compare the arithmetic with published figures.
    #[arg(long, conflicts_with_all = ["input", "nodes", "tokens", "set"])]
    calibration: bool,
}

impl Plan {
    pub(super) fn run(mut self, context: &mut Context) -> Result<Output> {
        let Some(input) = self.input.take().filter(|_| !self.calibration) else { return calibration::show(context) };
        let set: Vec<String> =
            self.set.iter().cloned().chain(self.target.iter().map(|target| format!("target={target}"))).collect();
        let source = context.session.load(&input, &set)?;
        let machine = machine(context, &source.recipe)?;
        match self.nodes {
            Some(nodes) => {
                let target = source.recipe.target.to_string();
                let question = Question {
                    input,
                    set: self.set.clone(),
                    target,
                    machine,
                    instances: nodes,
                    sequences: self.sequences,
                    shown: self.top.max(1),
                };
                self.search(context, &question)
            }
            None => {
                let spinner = bars::spinner(context, &format!("compiling {}", source.name));
                let (bundle, bill) = Bill::compiled(&context.session, &source, &machine)?;
                spinner.finish_and_clear();
                let whole = self.tokens.map(|tokens| run::whole(&bill, tokens));
                let text = show::bill(&source.name, &bundle.manifest, &machine, &bill, whole.as_ref());
                Ok(Output::new(text, show::bill_json(&bill, whole.as_ref())))
            }
        }
    }

    fn search(&self, context: &mut Context, question: &Question) -> Result<Output> {
        let spinner = bars::spinner(context, "looking for layouts");
        let progress =
            |considered: &Considered, best: Option<&Planned>| spinner.set_message(show::progress(considered, best));
        let found = Search::new(&mut context.session, question)?.run(progress)?;
        spinner.finish_and_clear();
        let Some(best) = found.planned.first() else { return Err(nothing_fits(question, &found).into()) };
        let whole = self.tokens.map(|tokens| run::whole(&best.bill, tokens));
        let mut text = show::ranked(question, &found, whole.as_ref());
        if self.explain {
            text.push_str(&show::considered(&found));
        }
        if let Some(file) = &self.plot {
            halite_disk::write(file, show::plot(question, &found)?.as_bytes())?;
            text.push_str(&format!("\nwrote {}\n", file.display()));
        }
        if let Some(file) = &self.output {
            let recipe = context.session.load(&question.input, &question.settings(&best.layout))?.recipe;
            let written = toml::to_string(&recipe)
                .map_err(|error| Diagnostic::bug(format!("a recipe that cannot be written: {error}")))?;
            halite_disk::write(file, written.as_bytes())?;
            text.push_str(&format!("\nwrote {}\n", file.display()));
        }
        Ok(Output::new(text, show::ranked_json(question, &found, whole.as_ref())))
    }
}

/// The time of an update of a bundle in a few words; `None` where nothing tells it.
pub(super) fn summary(context: &Context, manifest: &Manifest) -> Option<String> {
    let machine = machine(context, &manifest.recipe).ok()?;
    let bill = Bill::of(manifest, &machine)?;
    Some(format!(
        "about {} on {} of {}, HFU {}: `halite plan` has the bill",
        amounts::seconds(bill.step.total),
        counted(bill.ranks as usize, "rank"),
        machine.instance.name,
        amounts::percent(bill.hfu)
    ))
}

/// The machine of a recipe's target.
fn machine(context: &Context, recipe: &Recipe) -> Result<Machine> {
    let target = context.session.vocabulary.targets.get(&recipe.target)?;
    let flags = target.settings(recipe).flags;
    let machine = target.machine(&recipe.target, &flags);
    Ok(machine.ok_or_else(|| no_machine(context, &recipe.target))?)
}

/// The machine of a target by name, with the flags that it has by default.
fn machine_named(context: &Context, name: &str) -> Option<Machine> {
    let name = TargetName::new(name);
    context.session.vocabulary.targets.get(&name).ok()?.machine(&name, &[])
}

fn no_machine(context: &Context, name: &TargetName) -> Diagnostic {
    let known: Vec<String> = context
        .session
        .vocabulary
        .targets
        .variants()
        .filter(|variant| machine_named(context, variant.name.as_str()).is_some())
        .map(|variant| format!("`--target {}`", variant.name))
        .collect();
    Diagnostic::error(
        codes::USAGE,
        format!("nothing is known of the links and rates of `{name}`, from which times follow"),
    )
    .help(format!("plan for one of {}", known.join(", ")))
}

fn nothing_fits(question: &Question, found: &Found) -> Diagnostic {
    let nodes = question.instances;
    let instances = counted(nodes as usize, "instance");
    let message = format!("no layout of {} fits on {instances} of {}", question.input, question.machine.instance.name);
    let help = match &found.nearest {
        Some(nearest) => format!(
            "take more nodes; {} comes nearest, at {} of the {} of a rank",
            nearest.layout,
            crate::table::bytes(nearest.bytes as u64),
            crate::table::bytes(question.machine.capacity)
        ),
        None if found.considered.too_much_state > 0 => format!(
            "take more nodes: in {} of {} layouts the state alone is more than the {} of a rank",
            found.considered.too_much_state,
            found.considered.layouts,
            crate::table::bytes(question.machine.capacity)
        ),
        None => "take more nodes".to_owned(),
    };
    let reasons = found.refusals.iter().map(|(reason, count)| format!("{count} layouts were refused: {reason}"));
    reasons.fold(Diagnostic::error(codes::USAGE, message).help(help), |error, reason| error.note(reason))
}
