//! The numbers of the page.

use crate::measured::{beside_estimate, latest, update_seconds};
use halite_recipe::Recipe;
use halite_support::units::{counted, grouped};
use halite_train::{EvalRecord, Seen, Startup, TimeRecord, Times};

/// Updates over which the rate is taken.
const RECENT: usize = 100;

/// The progress of a run, with its model, sizes, optimizer and target, in a line.
pub(super) fn progress(recipe: &Recipe, made: u64) -> String {
    let optimizer = &recipe.optimizer;
    let sizes = match (recipe.batch, recipe.seq) {
        (Some(batch), Some(seq)) => format!(", {batch} × {seq} tokens"),
        _ => String::new(),
    };
    format!(
        "update {made} of {} · {}{sizes} · {}, learning rate {} · {}",
        recipe.train.steps,
        recipe.model.name,
        optimizer.rule.name,
        optimizer.lr,
        recipe.target.as_str()
    )
}

/// The seed of a run, and the version of Halite and the machine that it ran on, as far as they are known.
pub(super) fn made_by(recipe: &Recipe, startups: &[Startup]) -> String {
    let seed = format!("seed {}", recipe.train.seed);
    let Some(Startup { halite, os, arch, cores, .. }) = startups.last() else { return seed };
    format!("{seed} · Halite {halite} · {} on {os} {arch}", counted(*cores, "core"))
}

/// The last measurements, by name.
pub(super) fn last(seen: &Seen<'_>) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    if let Some(record) = seen.history.steps.last() {
        add("updates", grouped(record.step));
        add(record.seen.unit(), grouped(record.seen.number()));
        for (name, value) in &record.metrics {
            add(&name.replace('_', " "), number(*value));
        }
    }
    for EvalRecord { data, held_out_loss, counted, metrics, .. } in last_evals(&seen.history.evals) {
        let of = if data.is_empty() { String::new() } else { format!(" of {data}") };
        add(&format!("held-out loss{of}"), number(*held_out_loss));
        if counted.is_of_tokens() {
            add(&format!("perplexity{of}"), number(held_out_loss.exp()));
        }
        metrics.iter().for_each(|(name, value)| add(&format!("held-out {name}{of}"), number(*value)));
    }
    facts
}

/// The evaluations after the last update that has any.
fn last_evals(evals: &[EvalRecord]) -> &[EvalRecord] {
    evals.chunk_by(|a, b| a.step == b.step).last().unwrap_or_default()
}

/// The rate and utilization of the last updates, and the time of each part of the run.
pub(super) fn times(times: &Times, startups: &[Startup]) -> Vec<(String, String)> {
    let records = times.records();
    let recent = &records[records.len().saturating_sub(RECENT)..];
    let sum = |part: fn(&TimeRecord) -> f64| records.iter().map(part).sum::<f64>();
    let own = [
        ("updates", sum(|record| record.compute)),
        ("waiting for data", sum(|record| record.data)),
        ("evaluation", sum(|record| record.evaluation)),
        ("writing files", sum(|record| record.writing)),
    ];
    let parts: Vec<(String, f64)> =
        own.into_iter().map(|(name, seconds)| (name.to_owned(), seconds)).chain(compiling(startups)).collect();
    let all: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
    if all <= 0.0 {
        return Vec::new();
    }
    let seen: u64 = recent.iter().map(|record| record.seen.number()).sum();
    let unit = recent.last().map_or("tokens", |record| record.seen.unit());
    let seconds: f64 = recent.iter().map(|record| record.data + record.compute).sum();
    let rate = (format!("{unit} per second, last {} updates", recent.len()), number(seen as f64 / seconds));
    let part = |(name, seconds): (String, f64)| (name, format!("{seconds:.1} s, {:.1}%", 100.0 * seconds / all));
    let mfu: Vec<f64> = recent.iter().filter_map(|record| record.mfu).collect();
    let mean = 100.0 * mfu.iter().sum::<f64>() / mfu.len() as f64;
    let mfu = (!mfu.is_empty()).then(|| ("model FLOPs utilization".to_owned(), format!("{mean:.1}%")));
    let own = update_seconds(latest(records, startups)).zip(startups.last().and_then(|startup| startup.update_seconds));
    let update = own.map(|(measured, estimated)| ("an update".to_owned(), beside_estimate(measured, estimated)));
    std::iter::once(rate).chain(mfu).chain(update).chain(parts.into_iter().map(part)).collect()
}

/// The time of compiling in all processes of the run: by Halite, where it is known, and by the platform that runs the modules.
fn compiling(startups: &[Startup]) -> Vec<(String, f64)> {
    let Some(last) = startups.last() else { return Vec::new() };
    let known: Vec<f64> = startups.iter().filter_map(|startup| startup.compile_seconds).collect();
    let own = (!known.is_empty()).then(|| ("compiling, Halite".to_owned(), known.iter().sum()));
    let loading = startups.iter().map(|startup| startup.load_seconds).sum();
    own.into_iter().chain([(format!("compiling, {}", last.platform), loading)]).collect()
}

/// A number with about five digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || !size.is_finite() => value.to_string(),
        size if size.fract() == 0.0 && size < 1000.0 => format!("{value}"),
        size if size < 1e-3 => format!("{value:.3e}"),
        size if size < 1000.0 => format!("{value:.4}"),
        _ => grouped(value.round() as u64),
    }
}
