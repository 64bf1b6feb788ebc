//! Bills and plans as text and JSON.

use super::amounts::{dollars, percent, seconds};
use super::choice::Sized;
use super::run::Whole;
use crate::table::{bytes, counted, facts, grouped, short, table};
use crate::terminal;
use halite_bundle::Manifest;
use halite_bundle::estimate::{FitVerdict, MemoryKind};
use halite_plan::{Bill, Considered, Cost, Layout, Plan, Planned, Question};
use halite_report::wrap;
use halite_support::Diagnostic;
use halite_target::estimate::time::{Link, Machine, StepTime};
use serde_json::{Value, json};

/// The causes of the time of an update, with their seconds.
fn causes(step: &StepTime) -> Vec<(String, f64)> {
    let wire = step.wire.iter().map(|(axes, seconds)| (format!("collectives along {axes}"), *seconds));
    let mut all = vec![("products of matrices".to_owned(), step.products), ("other arithmetic".to_owned(), step.other)];
    all.extend(wire);
    all.push(("collectives written ahead".to_owned(), step.exposed));
    all.push(("optimizer".to_owned(), step.optimizer));
    all.push(("waiting for other stages".to_owned(), step.bubble));
    all.push(("starting programs".to_owned(), step.launch));
    all.retain(|(_, seconds)| *seconds > 0.0);
    all
}

/// The bill of a stated layout.
pub(super) fn bill(name: &str, manifest: &Manifest, machine: &Machine, bill: &Bill, whole: Option<&Whole>) -> String {
    let axes: Vec<String> = manifest.mesh.axes().iter().map(|axis| format!("{} {}", axis.name, axis.size)).collect();
    let stages = manifest.num_stages();
    let axes: Vec<String> = (stages > 1).then(|| format!("pipeline {stages}")).into_iter().chain(axes).collect();
    let layout = if axes.is_empty() { String::new() } else { format!(": {}", axes.join(", ")) };
    let mut text = format!(
        "{name} on {} of {}, {}{layout}\n\n",
        counted(bill.instances as usize, "instance"),
        machine.instance.name,
        counted(bill.ranks as usize, "rank")
    );
    text.push_str(&facts(&figures(bill)));
    text.push_str(&format!("\n{}\n{}", times(&bill.step), memory(bill)));
    text.push_str(&format!("\n{}", costs(&bill.costs)));
    if let Some(whole) = whole {
        text.push_str(&format!("\n{}", of_whole(bill, whole)));
    }
    text.push_str(&sources(machine));
    text
}

fn figures(bill: &Bill) -> Vec<(&'static str, String)> {
    let rate = bill.tokens_per_second();
    [
        ("an update", format!("{} for {} tokens", seconds(bill.step.total), grouped(bill.tokens))),
        (
            "tokens per second",
            format!("{}, {} of a rank", short(rate as u64), short((rate / bill.ranks as f64) as u64)),
        ),
        ("utilization", utilization(bill)),
    ]
    .into_iter()
    .chain(fits(bill))
    .collect()
}

/// The share of the peak rate for what the model asks for, and with what is computed again where that is more.
pub(super) fn utilization(bill: &Bill) -> String {
    let (mfu, hfu) = (percent(bill.mfu), percent(bill.hfu));
    if bill.hfu > bill.mfu && mfu != hfu { format!("MFU {mfu}, HFU {hfu}") } else { format!("MFU {mfu}") }
}

/// Whether it fits: the memory, and the instructions where there is something to say of them.
fn fits(bill: &Bill) -> Vec<(&'static str, String)> {
    let [needs, has] = bill.memory;
    let Some(fits) = bill.fits else { return vec![("fits", format!("not known: {} of a rank", bytes(needs)))] };
    let word = crate::estimate::word(fits.memory);
    let mut facts = vec![("fits", format!("{word}: {} of the {} of a rank", bytes(needs), bytes(has)))];
    let words = match fits.instructions {
        FitVerdict::Fits => return facts,
        FitVerdict::FitsWithFlag => "more than the compiler takes without a flag that raises its limit",
        FitVerdict::MayNotFit => "perhaps more than the compiler takes: `halite compile` tells how many",
        FitVerdict::DoesNotFit => "more than the compiler takes: `halite compile` tells how many",
    };
    facts.push(("instructions", words.to_owned()));
    facts
}

fn times(step: &StepTime) -> String {
    let head = ["an update", "time", "share"].map(str::to_owned).to_vec();
    let row = |(cause, own): (String, f64)| vec![cause, seconds(own), percent(own / step.total)];
    let total = vec!["all".to_owned(), seconds(step.total), percent(1.0)];
    let rows = [head].into_iter().chain(causes(step).into_iter().map(row)).chain([total]);
    let mut text = table(&rows.collect::<Vec<_>>());
    if step.hidden > 0.0 {
        text.push_str(&format!("\n{} of collectives run beside these.\n", seconds(step.hidden)));
    }
    text
}

fn memory(bill: &Bill) -> String {
    let total = bill.peak.total().max(1) as f64;
    let head = ["memory of a rank", "bytes", "share"].map(str::to_owned).to_vec();
    let kinds = MemoryKind::ALL.into_iter().filter(|kind| bill.peak.of(*kind) > 0);
    let row = |kind: MemoryKind| {
        let own = bill.peak.of(kind);
        vec![kind.name().to_owned(), bytes(own), percent(own as f64 / total)]
    };
    table(&[head].into_iter().chain(kinds.map(row)).collect::<Vec<_>>())
}

fn costs(costs: &[Cost]) -> String {
    if costs.is_empty() {
        return "No price is known.\n".to_owned();
    }
    let head = ["contract", "an hour", "a billion tokens"].map(str::to_owned).to_vec();
    let row = |cost: &Cost| vec![cost.kind.name().to_owned(), dollars(cost.hour), dollars(cost.billion_tokens)];
    table(&[head].into_iter().chain(costs.iter().map(row)).collect::<Vec<_>>())
}

fn of_whole(bill: &Bill, whole: &Whole) -> String {
    let Whole { tokens, work, failures, run } = whole;
    let cost = bill
        .cost()
        .map_or_else(String::new, |cost| format!(", {} ({})", dollars(whole.dollars(cost)), cost.kind.name()));
    let pairs = vec![
        (
            "tokens",
            format!("{} in {} updates", short(*tokens as u64), grouped((tokens / bill.tokens as f64).ceil() as u64)),
        ),
        ("updates alone", seconds(*work)),
        ("expected", format!("{} +- {}{cost}", seconds(run.expected), seconds(run.spread))),
        ("failures", format!("one in {}, {} to go on", seconds(failures.between), seconds(failures.restart))),
        ("checkpoints", format!("every {}, {} each", seconds(run.interval), seconds(failures.save))),
    ];
    facts(&pairs)
}

fn sources(machine: &Machine) -> String {
    let efficiency = &machine.efficiency;
    let link = |(at, link): (usize, &Link)| format!("{} ({})", percent(efficiency.link(at)), link.name);
    let links: Vec<String> = machine.links.iter().enumerate().map(link).collect();
    wrapped(&format!(
        "\nArithmetic, not a measurement. Programs are presumed to reach {} of the peak rate of products, and of the bandwidth of \
         links {}; `halite plan --calibration` shows how far this is off.\n",
        percent(efficiency.products),
        links.join(", ")
    ))
}

/// Text in the columns of the terminal.
pub(super) fn wrapped(text: &str) -> String {
    terminal::out_columns().map_or_else(|| text.to_owned(), |width| wrap(text, width, ""))
}

/// The layouts that a search found.
pub(super) fn ranked(question: &Question, found: &Plan, whole: Option<&Whole>) -> String {
    let machine = &question.machine;
    let considered = &found.considered;
    let mut text = format!(
        "{} on {} of {}, {}: {} layouts, {} told from shallow models, {} compiled\n\n",
        question.input,
        counted(question.instances as usize, "instance"),
        machine.instance.name,
        counted((question.instances * machine.instance.ranks) as usize, "rank"),
        grouped(considered.layouts as u64),
        grouped(considered.shallow as u64),
        grouped(considered.compiled as u64)
    );
    let head = ["", "layout", "recompute", "batch", "update", "MFU", "memory", "$/B"].map(str::to_owned).to_vec();
    let row = |(at, planned): (usize, &Planned)| {
        let Planned { layout, bill } = planned;
        vec![
            (at + 1).to_string(),
            placed(layout),
            layout.recompute.map_or("", recomputed).to_owned(),
            format!("{} x {}", layout.batch, layout.accumulate),
            seconds(bill.step.total),
            percent(bill.mfu),
            bytes(bill.memory[0]),
            bill.cost().map_or_else(String::new, |cost| dollars(cost.billion_tokens)),
        ]
    };
    text.push_str(&table(&[head].into_iter().chain(found.planned.iter().enumerate().map(row)).collect::<Vec<_>>()));
    text.push_str(&wrapped(
        "\n`recompute`: beside what the recipe says. `batch`: sequences of a micro-batch, and micro-batches of an update. `MFU`: the share of \
         the peak rate for the products that the model asks for. `$/B`: of a billion tokens.\n",
    ));
    if let Some(best) = found.planned.first() {
        text.push_str(&format!("\nThe first of these:\n\n{}", facts(&figures(&best.bill))));
        text.push_str(&format!("\n{}", times(&best.bill.step)));
        if let Some(whole) = whole {
            text.push_str(&format!("\n{}", of_whole(&best.bill, whole)));
        }
    }
    text.push_str(&sources(machine));
    text
}

/// A layout with what its axes do not say.
pub(super) fn described(layout: &Layout) -> String {
    let again = layout.recompute.map_or_else(String::new, |policy| format!(", recompute {}", recomputed(policy)));
    format!("{}{again}", placed(layout))
}

/// A layout with its schedule, where that is not the usual one.
fn placed(layout: &Layout) -> String {
    let schedule = if layout.schedule == "1f1b" { String::new() } else { format!(", {}", layout.schedule) };
    format!("{layout}{schedule}")
}

/// A policy of recomputation without the signs of TOML.
fn recomputed(policy: &str) -> &str {
    policy.trim_matches(['[', ']', '"'])
}

/// The best layouts of several numbers of instances.
pub(super) fn sizes(question: &Question, all: &[Sized], chosen: usize, failed: &[(u64, Diagnostic)]) -> String {
    let head = ["nodes", "layout", "update", "tokens/s", "$/B", "run", "cost"].map(str::to_owned).to_vec();
    let row = |own: &Sized| {
        let (bill, cost) = (&own.best.bill, own.best.bill.cost());
        let whole = own.whole.as_ref();
        vec![
            own.instances.to_string(),
            described(&own.best.layout),
            seconds(bill.step.total),
            short(bill.tokens_per_second() as u64),
            cost.map_or_else(String::new, |cost| dollars(cost.billion_tokens)),
            whole.map_or_else(String::new, |whole| seconds(whole.run.expected)),
            whole.zip(cost).map_or_else(String::new, |(whole, cost)| dollars(whole.dollars(cost))),
        ]
    };
    let mut text = format!("{} on instances of {}\n\n", question.input, question.machine.instance.name);
    text.push_str(&table(&[head].into_iter().chain(all.iter().map(row)).collect::<Vec<_>>()));
    for (instances, why) in failed {
        text.push_str(&format!("\n{instances}: {}\n", why.message()));
    }
    text.push_str(&format!("\nChosen: {}.\n\n", counted(all[chosen].instances as usize, "instance")));
    text
}

/// The plan of the chosen number of instances, with the figures of all.
pub(super) fn sizes_json(all: &[Sized], mut chosen: Value) -> Value {
    let of = |own: &Sized| {
        json!({
            "instances": own.instances, "layout": own.best.layout, "set": settings(&own.best.layout),
            "bill": bill_json(&own.best.bill, own.whole.as_ref()),
        })
    };
    chosen["sizes"] = all.iter().map(of).collect();
    chosen
}

/// How many layouts were looked at in which way.
pub(super) fn considered(found: &Plan) -> String {
    let Considered { layouts, too_much_state, too_slow, shallow, too_much_memory, compiled, refused } =
        found.considered;
    let count = |number: usize| grouped(number as u64);
    let mut pairs = vec![
        ("layouts", count(layouts)),
        ("too large", format!("{}, whose state and activations are more than a rank has", count(too_much_state))),
        ("too slow", format!("{}, whose bound is above the last that is shown", count(too_slow))),
        ("shallow", format!("{}, told from models of a few layers in each part", count(shallow))),
        ("do not fit", format!("{} of these", count(too_much_memory))),
        ("compiled", count(compiled)),
    ];
    if refused > 0 {
        pairs.push(("refused", count(refused)));
    }
    let mut text = format!("\n{}", facts(&pairs));
    for (reason, times) in &found.refusals {
        text.push_str(&format!("  {times} x {reason}\n"));
    }
    text
}

/// The line of a search under way.
pub(super) fn progress(considered: &Considered, best: Option<&Planned>) -> String {
    let best = best.map_or_else(String::new, |best| format!("; {} in {}", best.layout, seconds(best.bill.step.total)));
    format!(
        "{} of {} layouts told, {} compiled{best}",
        grouped(considered.shallow as u64),
        grouped(considered.layouts as u64),
        grouped(considered.compiled as u64)
    )
}

pub(super) fn bill_json(bill: &Bill, whole: Option<&Whole>) -> Value {
    let step = &bill.step;
    json!({
        "ranks": bill.ranks,
        "instances": bill.instances,
        "tokens": bill.tokens,
        "seconds": {
            "products": step.products, "other": step.other, "collectives": step.wire, "exposed": step.exposed, "optimizer": step.optimizer,
            "bubble": step.bubble, "launch": step.launch, "hidden": step.hidden, "all": step.total,
        },
        "mfu": bill.mfu,
        "hfu": bill.hfu,
        "tokens_per_second": bill.tokens_per_second(),
        "memory": {"peak": bill.peak, "needs": bill.memory[0], "has": bill.memory[1], "fits": bill.fits},
        "costs": bill.costs,
        "run": whole.map(|whole| json!({
            "tokens": whole.tokens, "seconds": whole.work, "expected_seconds": whole.run.expected,
            "spread_seconds": whole.run.spread, "checkpoint_every_seconds": whole.run.interval,
            "seconds_between_failures": whole.failures.between,
        })),
    })
}

pub(super) fn ranked_json(question: &Question, found: &Plan, whole: Option<&Whole>) -> Value {
    let planned = found.planned.iter().enumerate().map(|(at, planned)| {
        let whole = whole.filter(|_| at == 0);
        json!({"layout": planned.layout, "set": settings(&planned.layout), "bill": bill_json(&planned.bill, whole)})
    });
    json!({
        "target": question.target,
        "instances": question.instances,
        "planned": planned.collect::<Vec<_>>(),
        "considered": found.considered,
        "refusals": found.refusals,
    })
}

fn settings(layout: &Layout) -> Vec<String> {
    layout.settings().into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}
