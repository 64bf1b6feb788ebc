//! The work of the stages of a pipeline in an update, for people.

use crate::context::{Context, Output, Result};
use crate::table::{bytes, grouped, short, table};
use crate::terminal;
use halite::inspect::parts::PartCost;
use halite_page::plot;
use halite_recipe::{Recipe, ScheduleKind};
use halite_report::wrap;
use halite_schedule::{Action, Costs, Pipeline, Schedule, Timeline, Transport};
use halite_support::{Diagnostic, codes};
use serde_json::{Value, json};
use std::path::Path;

/// The actions of a stage that are shown unless all are asked for.
const SHOWN: usize = 48;

/// Shows the schedule of a recipe's pipeline, with all actions of its stages or the first of each; draws it to a file where one is named.
pub(super) fn show(
    context: &mut Context,
    (input, set): (&str, &[String]),
    all: bool,
    file: Option<&Path>,
) -> Result<Output> {
    let source = context.session.load(input, set)?;
    let (pipeline, kind) = source.recipe.pipeline()?;
    if let (1, Some(file)) = (pipeline.stages(), file) {
        let message = format!("there is no schedule to draw to {}: the pipeline has one stage", file.display());
        return Err(Diagnostic::error(codes::USAGE, message)
            .help("state more, e.g. `--set parallel.pipeline=4`")
            .into());
    }
    if pipeline.stages() == 1 {
        return Ok(Output::new("One stage, which does all. State more: `--set parallel.pipeline=4`.\n", json!({})));
    }
    let schedule = Schedule::new(kind, pipeline, Transport::Buffered).map_err(bug)?;
    let timeline = schedule.simulate(&Costs::equal(&pipeline)).map_err(bug)?;
    let parts = context.session.parts(&source)?;
    let mut text =
        describe_parts(kind, &pipeline, &parts) + &describe(&schedule, &timeline, if all { usize::MAX } else { SHOWN });
    if let Some(file) = file {
        halite_disk::write(file, plot::schedule(kind, &schedule, &timeline)?.as_bytes())?;
        text.push_str(&format!("\nwrote {}\n", file.display()));
    }
    Ok(Output::new(text, value(kind, &schedule, &timeline, &parts)))
}

/// The stages of a recipe in a line; `None` where there is one.
pub(super) fn summary(recipe: &Recipe) -> Option<String> {
    let (pipeline, kind) = recipe.pipeline().ok().filter(|(pipeline, _)| pipeline.stages() > 1)?;
    let schedule = Schedule::new(kind, pipeline, Transport::Buffered).ok()?;
    let waits = schedule.simulate(&Costs::equal(&pipeline)).ok()?.bubble();
    let (stages, batches) = (pipeline.stages(), micro_batches(&pipeline));
    Some(format!("{stages}, by `{}` with {batches}: each waits {} of the time", kind.name(), percent(waits)))
}

fn micro_batches(pipeline: &Pipeline) -> String {
    let count = pipeline.micro_batches();
    format!("{} micro-batch{}", grouped(count as u64), if count == 1 { "" } else { "es" })
}

/// A schedule that its own kind does not make.
fn bug(error: halite_schedule::ScheduleError) -> Diagnostic {
    Diagnostic::bug(error.to_string())
}

/// The pipeline, and a row for each part of the model.
fn describe_parts(kind: ScheduleKind, pipeline: &Pipeline, parts: &[PartCost]) -> String {
    let chunks = match pipeline.chunks() {
        1 => String::new(),
        chunks => format!(" of {chunks} chunks each"),
    };
    let (stages, batches) = (pipeline.stages(), micro_batches(pipeline));
    let most = parts.iter().map(|part| part.flops).max().unwrap_or(0).max(1) as f64;
    let head = ["part", "stage", "layers", "first layer", "FLOPs", "sends", "cost"].map(str::to_owned).to_vec();
    let row = |(number, part): (usize, &PartCost)| {
        let first = part.layers.first().cloned().unwrap_or_default();
        let sends = if part.sends == 0 { String::new() } else { bytes(part.sends) };
        let places = [number, pipeline.stage_of(number), part.layers.len()].map(|count| grouped(count as u64));
        let costs = [first, short(part.flops), sends, percent(part.flops as f64 / most)];
        places.into_iter().chain(costs).collect()
    };
    let (layers, flops) =
        (parts.iter().map(|part| part.layers.len()).sum::<usize>(), parts.iter().map(|part| part.flops).sum());
    let even = percent(flops as f64 / most / parts.len().max(1) as f64);
    let none = String::new;
    let total = vec!["all".to_owned(), none(), grouped(layers as u64), none(), short(flops), none(), even];
    let rows = [head].into_iter().chain(parts.iter().enumerate().map(row)).chain([total]);
    format!(
        "{}: {stages} stages{chunks}, {batches} in an update\n\n{}{}\n",
        kind.name(),
        table(&rows.collect::<Vec<Vec<String>>>()),
        wrapped(
            "\n`layers`: those of the part, from `first layer` on. `FLOPs`, `sends`: those of its forward on a micro-batch, and what it \
             hands to the next part. `cost`: its FLOPs as a share of those of the most expensive part; of `all`, the mean.\n",
            "",
        )
    )
}

fn describe(schedule: &Schedule, timeline: &Timeline, shown: usize) -> String {
    let pipeline = schedule.pipeline();
    let head = ["stage", "in flight", "waits"].map(str::to_owned).to_vec();
    let row = |stage: usize| {
        let waits = percent(timeline.idle(stage) as f64 / timeline.end().max(1) as f64);
        vec![stage.to_string(), grouped(schedule.in_flight(stage) as u64), waits]
    };
    let total = vec!["all".to_owned(), String::new(), percent(timeline.bubble())];
    let rows = (0..pipeline.stages()).map(row);
    let mut text = table(&[head].into_iter().chain(rows).chain([total]).collect::<Vec<_>>());
    text.push_str(&wrapped(
        "\n`in flight`: forwards of which residuals are kept. `waits`: the share of the time, where a forward, the gradient by a \
         part's input and those by its weights cost the same and transfers nothing. `2F0` is the forward of part 2 on micro-batch \
         0, `B` a backward, `I` and `W` its halves: the gradient by the input, and those by weights.\n",
        "",
    ));
    let width = terminal::out_columns();
    for (stage, list) in schedule.stages().iter().enumerate() {
        let first = list.iter().take(shown).map(Action::to_string).collect::<Vec<_>>().join(", ");
        let rest = match list.len().saturating_sub(shown) {
            0 => String::new(),
            rest => format!(", and {} more", grouped(rest as u64)),
        };
        let line = format!("{first}{rest}");
        let line =
            width.map_or_else(|| line.clone(), |width| wrap(&line, width.saturating_sub(2), "").replace('\n', "\n  "));
        text.push_str(&format!("\nstage {stage}\n  {line}\n"));
    }
    if schedule.stages().iter().any(|list| list.len() > shown) {
        text.push_str("\n`--all` shows the rest\n");
    }
    text
}

fn wrapped(text: &str, indent: &str) -> String {
    terminal::out_columns().map_or_else(|| text.to_owned(), |width| wrap(text, width, indent))
}

/// `27.3%`
fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn value(kind: ScheduleKind, schedule: &Schedule, timeline: &Timeline, parts: &[PartCost]) -> Value {
    let stage = |(stage, list): (usize, &Vec<Action>)| {
        let actions: Vec<String> = list.iter().map(Action::to_string).collect();
        let (in_flight, waits) = (schedule.in_flight(stage), timeline.idle(stage));
        json!({"stage": stage, "in_flight": in_flight, "waits": waits, "actions": actions})
    };
    let stages: Vec<Value> = schedule.stages().iter().enumerate().map(stage).collect();
    json!({
        "schedule": kind,
        "pipeline": schedule.pipeline(),
        "time": timeline.end(),
        "bubble": timeline.bubble(),
        "parts": parts,
        "stages": stages,
    })
}
