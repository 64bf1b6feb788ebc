//! The output of runs that ended.

use crate::context::Output;
use crate::exit::TRY_AGAIN;
use crate::signals::Caught;
use crate::table::{counted, facts, short};
use halite_page::{beside_estimate, of_model};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_train::{Amount, EvalRecord, History, Peers, RunFiles, StepRecord, may_pass};
use indexmap::IndexMap;
use serde_json::json;

/// Whether a run failed by a transient error, here or on another rank.
pub(super) fn is_worth_another_try(errors: &Diagnostics, peers: Option<&Peers>) -> bool {
    let is_of_another = errors.iter().all(|error| error.code() == codes::OTHER_RANK);
    may_pass(errors) || is_of_another && peers.is_some_and(Peers::may_pass)
}

/// The output of a run that failed and can be started again.
pub(super) fn failed(errors: Diagnostics, output: &RunFiles) -> Output {
    let json = json!({"failed": true, "state": output.state()});
    Output { warnings: errors, exit: Some(TRY_AGAIN), ..Output::new("", json) }
}

/// The output of a run that a signal ended, to this process or to another.
pub(super) fn stopped(signal: Option<Caught>, completed: u64, steps: u64, output: &RunFiles) -> Output {
    let state = output.state();
    let by = signal.map_or("a signal to another rank", |signal| signal.name);
    let is_saved = state.is_file();
    let warning = if is_saved {
        let message = format!("{by} stopped the run after update {completed} of {steps}");
        let warning = Diagnostic::warning(codes::CANCELLED, message);
        warning.note(format!("its state is saved in `{}`", state.display())).help("the same command goes on from there")
    } else {
        let message = format!("{by} stopped the run before its first update");
        Diagnostic::warning(codes::CANCELLED, message)
            .note("no state was made")
            .help("the same command starts it again")
    };
    let json = json!({"stopped_by": by, "updates": completed, "state": is_saved.then_some(state)});
    Output {
        warnings: warning.into(),
        // Whoever started all ranks sees that none of them failed.
        exit: Some(signal.map_or(Caught::ELSEWHERE, |signal| signal.code)),
        ..Output::new("", json)
    }
}

/// Figures of a run that were taken while it ran.
pub(super) struct Watched {
    /// The amount of data per second, and the number of last updates that it is taken over.
    pub(super) rate: Option<(Amount, usize)>,
    /// The number of complete passes over all training data.
    pub(super) epochs: u64,
    /// The seconds of an update, as measured on devices of the target and as estimated; `None` where one is not known.
    pub(super) update: Option<[f64; 2]>,
}

/// The summary of a run: losses, metrics of the model, the speed of the last updates, and its files.
pub(super) fn summary(history: &History, output: &RunFiles, has_report: bool, watched: &Watched) -> Output {
    let &Watched { rate, epochs, update } = watched;
    let loss = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |loss| format!("{loss:.4}"));
    let ends = |first: Option<f64>, last: Option<f64>| format!("{} → {}", loss(first), loss(last));
    let steps = &history.steps;
    let train = (steps.first().map(|record| record.loss()), steps.last().map(|record| record.loss()));
    let held_out = held_out(history, |record| Some(record.held_out_loss));
    let metrics: Vec<&str> = steps.last().into_iter().flat_map(of_model).map(|(name, _)| name).collect();
    let of_metric = |name: &&str| {
        let of = |record: Option<&StepRecord>| record.and_then(|record| record.metrics.get(*name)).copied();
        let held_out = self::held_out(history, |record| record.metrics.get(*name).copied());
        let training = ends(of(steps.first()), of(steps.last()));
        let said = if held_out.is_empty() { training } else { format!("{training}; held out {}", each(&held_out)) };
        ((*name).to_owned(), said)
    };
    let mut all = vec![
        ("updates".to_owned(), steps.last().map_or(0, |record| record.step).to_string()),
        ("training loss".to_owned(), ends(train.0, train.1)),
        ("held-out loss".to_owned(), if held_out.is_empty() { ends(None, None) } else { each(&held_out) }),
    ];
    if epochs > 0 {
        all.push(("epochs".to_owned(), format!("{epochs}: all training data were seen {}", times(epochs))));
    }
    all.extend(metrics.iter().map(of_metric));
    if let Some((rate, updates)) = rate {
        let over = counted(updates, "update");
        all.push((format!("{} per second", rate.unit()), format!("{} over the last {over}", short(rate.number()))));
    }
    if let Some([measured, estimated]) = update {
        all.push(("an update".to_owned(), beside_estimate(measured, estimated)));
    }
    let report = has_report.then(|| ("report", output.report()));
    let files = [("metrics", output.metrics()), ("plot", output.plot())].into_iter();
    let files = report.into_iter().chain(files).chain([("state", output.state()), ("recipe", output.recipe())]);
    all.extend(files.map(|(name, path)| (name.to_owned(), path.display().to_string())));
    let text = facts(&all.iter().map(|(name, value)| (name.as_str(), value.clone())).collect::<Vec<_>>());
    let mut json = json!({
        "updates": steps.last().map_or(0, |record| record.step),
        "loss": train.1,
        "held_out_loss": held_out.values().next().map(|(_, last)| last),
        "epochs": epochs,
        "metrics": output.metrics(),
        "plot": output.plot(),
        "state": output.state(),
        "recipe": output.recipe(),
    });
    if let Some([measured, estimated]) = update {
        json["update_seconds"] = json!({"measured": measured, "estimated": estimated});
    }
    if has_report {
        json["report"] = json!(output.report());
    }
    Output::new(text, json)
}

/// A count in words: once, twice, `3 times`.
fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// The first and the last value on each data set.
fn each(held_out: &IndexMap<&str, (f64, f64)>) -> String {
    let shown = |(name, (first, last)): (&&str, &(f64, f64))| {
        let of = if name.is_empty() { String::new() } else { format!(" on {name}") };
        format!("{first:.4} → {last:.4}{of}")
    };
    held_out.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// The first and the last value of something on each data set that is held out, by what it is called.
fn held_out(history: &History, value: impl Fn(&EvalRecord) -> Option<f64>) -> IndexMap<&str, (f64, f64)> {
    let mut ends = IndexMap::new();
    for eval in &history.evals {
        let Some(value) = value(eval) else { continue };
        let (_, last) = ends.entry(eval.data.as_str()).or_insert((value, value));
        *last = value;
    }
    ends
}
