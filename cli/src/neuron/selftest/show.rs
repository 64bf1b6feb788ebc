//! Reports for people.

use crate::context::Output;
use crate::neuron::units::spoken;
use crate::table::{counted, facts, table};
use halite_neuron::Generation;
use halite_selftest::{CHECKS, Check, CheckReport, Explained, FactReport, Outcome, Report, STATED, Verdict};
use serde_json::json;

/// The largest number of wrong answers of a check that are written out; the JSON has all.
const MOST_FAILURES: usize = 4;

/// The names of checks, and what they ask.
pub(super) fn list(checks: &[&dyn Check]) -> Output {
    let pairs: Vec<(&str, String)> = checks.iter().map(|check| (check.name(), check.about().to_owned())).collect();
    let json: Vec<_> = checks.iter().map(|check| json!({"name": check.name(), "about": check.about()})).collect();
    Output::new(facts(&pairs), json!(json))
}

/// Each fact with what hangs on it.
pub(super) fn explained(all: &[Explained], target: Generation) -> Output {
    let mut text = format!("{} of {target} that a device may confirm or refute\n", counted(all.len(), "fact"));
    for fact in all {
        let mut pairs = vec![("presumed", fact.presumed.clone()), ("source", fact.source.clone())];
        let checks = if fact.checks.is_empty() { "none: no check tells".to_owned() } else { fact.checks.join(", ") };
        pairs.push(("check", checks));
        pairs.extend(fact.confirmed.clone().map(|text| ("confirmed", text)));
        pairs.extend(fact.refuted.clone().map(|text| ("refuted", text)));
        text += &format!("\n{}\n{}", fact.key, facts(&pairs));
    }
    Output { paged: true, ..Output::new(text, json!(all)) }
}

/// The report: what was there, a row for each check, what was wrong, a row for each fact.
pub(super) fn report(report: &Report) -> String {
    let cores = if report.cores == 0 { String::new() } else { format!(", {}", counted(report.cores, "core")) };
    let heading = [
        ("halite", format!("{}, for {}", report.halite, report.target)),
        ("compiler", report.compiler.clone()),
        ("runtime", report.runtime.clone() + &cores),
    ];
    let mut text = facts(&heading) + "\n" + &checks(report);
    for check in report.checks.iter().filter(|check| check.verdict == Verdict::Failed) {
        text += &failures(check);
    }
    for check in &report.checks {
        text += &left_out(check);
    }
    text += "\n";
    text += &of_facts(report);
    text + &summary(report)
}

fn checks(report: &Report) -> String {
    let head = ["check", "verdict", "time", "answers"].map(str::to_owned).to_vec();
    let row = |check: &CheckReport| {
        let right = check.asked.saturating_sub(check.failures.len());
        let (verdict, time, answers) = match &check.verdict {
            Verdict::Passed => ("passed".to_owned(), spoken(check.elapsed()), format!("{right} of {}", check.asked)),
            Verdict::Failed => ("FAILED".to_owned(), spoken(check.elapsed()), format!("{right} of {}", check.asked)),
            Verdict::NotRun(reason) => (format!("not run: {reason}"), String::new(), String::new()),
        };
        vec![check.name.to_owned(), verdict, time, answers]
    };
    table(&std::iter::once(head).chain(report.checks.iter().map(row)).collect::<Vec<_>>())
}

fn failures(check: &CheckReport) -> String {
    let mut text = format!("\n{} FAILED: {}\n", check.name, check.about);
    for failure in check.failures.iter().take(MOST_FAILURES) {
        let mut pairs = vec![("asked", failure.what.clone()), ("found", failure.found.clone())];
        pairs.extend(failure.expected.clone().map(|expected| ("expected", expected)));
        pairs.extend(failure.input.clone().map(|input| ("input", input)));
        text += &facts(&pairs);
    }
    if check.failures.len() > MOST_FAILURES {
        text += &format!("  and {} more, which `--json` has\n", check.failures.len() - MOST_FAILURES);
    }
    let meaning = check.meaning.map(|meaning| facts(&[("meaning", meaning.to_owned())]));
    text + &meaning.unwrap_or_default()
}

fn left_out(check: &CheckReport) -> String {
    match check.left_out.as_slice() {
        [] => String::new(),
        reasons => format!("\n{} leaves out {}\n", check.name, reasons.join("; ")),
    }
}

/// Facts that rest on a conclusion of ours or a single source, then what tables and documents state.
fn of_facts(report: &Report) -> String {
    let (stated, inferred): (Vec<&FactReport>, Vec<_>) = report.facts.iter().partition(|fact| fact.basis == STATED);
    let row = |fact: &&FactReport| vec![fact.key.clone(), fact.basis.to_owned(), now(fact)];
    let head = ["fact", "rested on", "now"].map(str::to_owned).to_vec();
    let inferred = table(&std::iter::once(head).chain(inferred.iter().map(row)).collect::<Vec<_>>());
    let row = |fact: &&FactReport| vec![fact.key.clone(), now(fact)];
    let head = ["stated", "now"].map(str::to_owned).to_vec();
    inferred + "\n" + &table(&std::iter::once(head).chain(stated.iter().map(row)).collect::<Vec<_>>())
}

fn now(fact: &FactReport) -> String {
    match (fact.outcome, fact.checks.as_slice()) {
        (Outcome::Open, []) => "open: no check tells".to_owned(),
        (Outcome::Open, checks) => format!("open: see {}", checks.join(", ")),
        (outcome, checks) => format!("{} by {}", outcome.name(), checks.join(", ")),
    }
}

fn summary(report: &Report) -> String {
    let [passed, failed, not_run] = report.counts();
    let count = |outcome| report.facts_that_are(outcome);
    let follows = match (failed, not_run) {
        (0, _) if passed == 0 => {
            "Nothing could be asked: it takes `neuronx-cc` on the PATH (or `--neuronx-cc`), and libnrt of the driver packages (or `--nrt`)."
        }
        (0, 0) if report.checks.len() == CHECKS.len() => "All answers are those that Halite rests on.",
        (0, _) => "What was asked was answered as expected; the rest is as open as before.",
        _ => {
            "Do not train before you have read what FAILED; `halite neuron selftest --explain` says what would change."
        }
    };
    format!(
        "\n{} passed, {failed} failed, {not_run} not run\n{} confirmed, {} refuted, {} open\n{follows}\n",
        counted(passed, "check"),
        counted(count(Outcome::Confirmed), "fact"),
        count(Outcome::Refuted),
        count(Outcome::Open),
    )
}
