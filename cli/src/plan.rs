//! `halite plan`.

mod amounts;
mod calibration;
mod choice;
mod described;
mod plot;
mod run;
mod show;

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::counted;
use amounts::{money, time, tokens};
use choice::{Bounds, Sized};
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
/// time of an update. `--set` states a key for all of them. Of several numbers of instances the cheapest is chosen that keeps
/// `--deadline`, or the fastest within `--budget`.
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
  halite plan llama-7b --target trn2 --nodes 4,8,16 --tokens 1T --deadline 60d
  halite plan hlat-70b --target trn2 --nodes 64 --sequences 1024 -o best.toml
  halite plan --calibration")]
pub(super) struct Plan {
    /// Preset, built-in model, recipe or model file.
    #[arg(required_unless_present = "calibration")]
    input: Option<String>,
    /// The target to plan for [default: that of the recipe].
    #[arg(long)]
    target: Option<String>,
    /// Plan for this instance of the target [default: the usual one].
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,
    /// Plan for the machine that this file describes, in the place of a target: see the guide on plans.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target", "instance", "output"])]
    machine: Option<PathBuf>,
    /// Search the layouts that use this many instances; several numbers are compared: `4,8,16`.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=65_536))]
    nodes: Vec<u64>,
    /// Sequences of an update over all ranks [default: as the recipe states].
    #[arg(long, value_name = "N", requires = "nodes", value_parser = clap::value_parser!(u64).range(1..))]
    sequences: Option<u64>,
    /// Also tell the time and the cost of training on so many tokens: `300B`, `1.8T`.
    #[arg(long, value_name = "N", value_parser = tokens)]
    tokens: Option<f64>,
    /// The most that the run may cost, in US dollars: `800k`.
    #[arg(long, value_name = "DOLLARS", requires_all = ["nodes", "tokens"], value_parser = money)]
    budget: Option<f64>,
    /// The longest that the run may take: `36h`, `30d`, `8w`.
    #[arg(long, value_name = "TIME", requires_all = ["nodes", "tokens"], value_parser = time)]
    deadline: Option<f64>,
    /// Set a key of the recipe or of the model; with `--nodes`, on every layout. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Show this many layouts.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "nodes")]
    top: usize,
    /// Write the recipe with the best layout to a file.
    #[arg(short, long, value_name = "FILE", requires = "nodes")]
    output: Option<PathBuf>,
    /// Draw the layouts to an SVG file: tokens per second over the memory of a rank, and over the cost of tokens.
    #[arg(long, value_name = "FILE", requires = "nodes")]
    plot: Option<PathBuf>,
    /// Show what the search considered, and why layouts were dropped.
    #[arg(long, requires = "nodes")]
    explain: bool,
    /// Compare the arithmetic with published figures.
    #[arg(long, conflicts_with_all = ["input", "nodes", "tokens", "set", "instance", "machine"])]
    calibration: bool,
}

impl Plan {
    pub(super) fn run(mut self, context: &mut Context) -> Result<Output> {
        let Some(input) = self.input.take().filter(|_| !self.calibration) else { return calibration::show(context) };
        if let Some(file) = &self.machine {
            self.target = Some(described::register(context, file)?);
        }
        let set: Vec<String> =
            self.set.iter().cloned().chain(self.target.iter().map(|target| format!("target={target}"))).collect();
        let source = context.session.load(&input, &set)?;
        let machine = self.machine(context, &source.recipe)?;
        let question = |instances: u64| Question {
            input: input.clone(),
            set: self.set.clone(),
            target: source.recipe.target.to_string(),
            machine: machine.clone(),
            instances,
            sequences: self.sequences,
            shown: self.top.max(1),
        };
        match self.nodes[..] {
            [nodes] => self.search(context, &question(nodes)),
            [_, ..] => self.sizes(context, &self.nodes.iter().map(|&nodes| question(nodes)).collect::<Vec<_>>()),
            [] => {
                let spinner = bars::spinner(context, &format!("compiling {}", source.name));
                let (bundle, bill) = Bill::compiled(&context.session, &source, &machine)?;
                spinner.finish_and_clear();
                let whole = self.tokens.map(|tokens| run::whole(&bill, tokens));
                let text = show::bill(&source.name, &bundle.manifest, &machine, &bill, whole.as_ref());
                Ok(Output::new(text, show::bill_json(&bill, whole.as_ref())))
            }
        }
    }

    /// The machine to plan for: the stated instance of the recipe's target.
    fn machine(&self, context: &Context, recipe: &Recipe) -> Result<Machine> {
        let all = machines(context, recipe)?;
        let Some(name) = &self.instance else {
            return Ok(all.into_iter().next().ok_or_else(|| no_machine(context, &recipe.target))?);
        };
        let known: Vec<String> = all.iter().map(|own| format!("`{}`", own.instance.name)).collect();
        let found = all.into_iter().find(|own| own.instance.name == *name);
        Ok(found.ok_or_else(|| {
            let message = format!("nothing is known of instances `{name}` with cores of `{}`", recipe.target);
            Diagnostic::error(codes::USAGE, message).help(format!("plan for {}", known.join(" or ")))
        })?)
    }

    fn find(context: &mut Context, question: &Question) -> Result<Found> {
        let spinner = bars::spinner(context, "looking for layouts");
        let progress =
            |considered: &Considered, best: Option<&Planned>| spinner.set_message(show::progress(considered, best));
        let found = Search::new(&mut context.session, question)?.run(progress)?;
        spinner.finish_and_clear();
        Ok(found)
    }

    fn search(&self, context: &mut Context, question: &Question) -> Result<Output> {
        let found = Self::find(context, question)?;
        let sized = self.sized(question, &found)?;
        if !self.bounds().hold(&sized) {
            return Err(out_of_bounds(&[sized]).into());
        }
        let mut text = show::ranked(question, &found, sized.whole.as_ref());
        let json = show::ranked_json(question, &found, sized.whole.as_ref());
        self.extra(context, &[(question, found)], 0, &mut text)?;
        Ok(Output::new(text, json))
    }

    /// Compares numbers of instances, and shows the plan of the best.
    fn sizes(&self, context: &mut Context, questions: &[Question]) -> Result<Output> {
        let (mut all, mut plans, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for question in questions {
            let found = Self::find(context, question)?;
            match self.sized(question, &found) {
                Ok(sized) => {
                    all.push(sized);
                    plans.push((question, found));
                }
                Err(why) => failed.push((question.instances, why)),
            }
        }
        if let (true, Some((_, first))) = (all.is_empty(), failed.pop()) {
            return Err(first.into());
        }
        let Some(chosen) = self.bounds().choose(&all) else { return Err(out_of_bounds(&all).into()) };
        let (question, found) = &plans[chosen];
        let mut text = show::sizes(question, &all, chosen, &failed);
        text.push_str(&show::ranked(question, found, all[chosen].whole.as_ref()));
        let json = show::sizes_json(&all, show::ranked_json(question, found, all[chosen].whole.as_ref()));
        self.extra(context, &plans, chosen, &mut text)?;
        Ok(Output::new(text, json))
    }

    /// The best layout of a plan, with the run on the stated tokens.
    fn sized(&self, question: &Question, found: &Found) -> halite_support::Result<Sized> {
        let best = found.planned.first().ok_or_else(|| nothing_fits(question, found))?;
        let whole = self.tokens.map(|tokens| run::whole(&best.bill, tokens));
        Ok(Sized { instances: question.instances, best: best.clone(), whole })
    }

    fn bounds(&self) -> Bounds {
        Bounds { budget: self.budget, deadline: self.deadline }
    }

    /// The explanation, the plot and the recipe of the chosen plan, where they are asked for.
    fn extra(
        &self,
        context: &mut Context,
        plans: &[(&Question, Found)],
        chosen: usize,
        text: &mut String,
    ) -> Result<()> {
        let (question, found) = &plans[chosen];
        if self.explain {
            text.push_str(&show::considered(found));
        }
        if let Some(file) = &self.plot {
            halite_disk::write(file, plot::plans(plans, chosen)?.as_bytes())?;
            text.push_str(&format!("\nwrote {}\n", file.display()));
        }
        if let (Some(file), Some(best)) = (&self.output, found.planned.first()) {
            let recipe = context.session.load(&question.input, &question.settings(&best.layout))?.recipe;
            let written = toml::to_string(&recipe)
                .map_err(|error| Diagnostic::bug(format!("a recipe that cannot be written: {error}")))?;
            halite_disk::write(file, written.as_bytes())?;
            text.push_str(&format!("\nwrote {}\n", file.display()));
        }
        Ok(())
    }
}

/// The time of an update of a bundle in a few words; `None` where nothing tells it.
pub(super) fn summary(context: &Context, manifest: &Manifest) -> Option<String> {
    let (machine, bill) = priced(context, manifest)?;
    Some(format!(
        "about {} on {} of {}, {}: `halite plan` has the bill",
        amounts::seconds(bill.step.total),
        counted(bill.ranks as usize, "rank"),
        machine.instance.name,
        show::utilization(&bill)
    ))
}

/// The seconds of an update of a bundle; `None` where nothing tells them.
pub(super) fn update_seconds(context: &Context, manifest: &Manifest) -> Option<f64> {
    Some(priced(context, manifest)?.1.step.total)
}

/// The usual machine of a bundle's target, and the bill on it.
fn priced(context: &Context, manifest: &Manifest) -> Option<(Machine, Bill)> {
    let machine = machines(context, &manifest.recipe).ok()?.into_iter().next()?;
    let bill = Bill::of(manifest, &machine)?;
    Some((machine, bill))
}

/// The machines of a recipe's target, the usual one first.
fn machines(context: &Context, recipe: &Recipe) -> Result<Vec<Machine>> {
    let target = context.session.vocabulary.targets.get(&recipe.target)?;
    Ok(target.machines(&recipe.target, &target.settings(recipe).flags))
}

/// The machine of a target by name, with the flags that it has by default.
fn machine_named(context: &Context, name: &str) -> Option<Machine> {
    let name = TargetName::new(name);
    context.session.vocabulary.targets.get(&name).ok()?.machines(&name, &[]).into_iter().next()
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

/// Says which limit is missed by how much.
fn out_of_bounds(all: &[Sized]) -> Diagnostic {
    let message = "no plan stays within the stated limits";
    let said = all.iter().filter_map(|own| {
        let whole = own.whole.as_ref()?;
        let cost = own
            .best
            .bill
            .cost()
            .map_or_else(String::new, |cost| format!(" and {}", amounts::dollars(whole.dollars(cost))));
        let instances = counted(own.instances as usize, "instance");
        Some(format!("{instances}: {}{cost}, with {}", amounts::seconds(whole.run.expected), own.best.layout))
    });
    let help = "take more nodes for the deadline, fewer for the budget, or fewer tokens";
    said.fold(Diagnostic::error(codes::USAGE, message).help(help), |error, said| error.note(said))
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
            "take more nodes: in {} of {} layouts state and activations are more than the {} of a rank",
            found.considered.too_much_state,
            found.considered.layouts,
            crate::table::bytes(question.machine.capacity)
        ),
        None => "take more nodes".to_owned(),
    };
    let reasons = found.refusals.iter().map(|(reason, count)| format!("{count} layouts were refused: {reason}"));
    reasons.fold(Diagnostic::error(codes::USAGE, message).help(help), |error, reason| error.note(reason))
}
