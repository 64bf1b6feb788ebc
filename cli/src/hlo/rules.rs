//! HLO held to the rules of a target, for people.

use crate::context::Output;
use crate::table::{counted, grouped, table};
use halite_neuron::legality::Profile;
use halite_neuron::report::{BlamedInstruction, BrokenRule, Found, PresumedOpcode, Report};
use halite_neuron::tables::Rule;
use serde_json::json;

/// The rules of a target.
pub(super) fn rules(profile: &Profile) -> Output {
    let head = ["rule", "level", "opcodes", "waivable", "code"].map(str::to_owned).to_vec();
    let row = |rule: &Rule| {
        let waivable = if rule.waivable { "yes" } else { "" };
        let code = rule.code.as_ref().map_or_else(String::new, |code| format!("NCC_{code}"));
        vec![rule.id.clone(), rule.level.name().to_owned(), rule.opcodes.join(", "), waivable.to_owned(), code]
    };
    let rows: Vec<_> = [head].into_iter().chain(profile.rules().map(row)).collect();
    let details = profile.rules().map(|rule| {
        let Rule { id, consequence, remedy, provenance, .. } = rule;
        format!("\n{id}: {consequence}\n  instead: {remedy}\n  source: {}\n", provenance.cite())
    });
    let title = format!("rules of {}, neuronx-cc {}\n\n", profile.target, profile.version);
    let text = title + &table(&rows) + &details.collect::<String>();
    Output::new(text, json!({"target": profile.target, "rules": profile.rules().collect::<Vec<_>>()}))
}

pub(super) fn describe(report: &Report) -> String {
    let Report { module, target, compiler, instructions, rules, broken, .. } = report;
    let (instructions, rules) = (counted(*instructions, "instruction"), counted(*rules, "rule"));
    let mut text = format!("{module}: {instructions}, {rules} of {target}, neuronx-cc {compiler}\n");
    if !broken.is_empty() {
        let head = ["rule", "level", "times"].map(str::to_owned).to_vec();
        let rows = broken.iter().map(|rule| vec![rule.rule.clone(), level(rule), grouped(rule.count as u64)]);
        text.push('\n');
        text.push_str(&table(&[head].into_iter().chain(rows).collect::<Vec<_>>()));
    }
    for rule in broken {
        text.push_str(&describe_rule(rule));
    }
    text.push_str(&describe_presumed(&report.presumed));
    text.push_str(&format!("\n{}\n", verdict(report)));
    text
}

/// Opcodes that no document lists, with what they rest on.
fn describe_presumed(presumed: &[PresumedOpcode]) -> String {
    if presumed.is_empty() {
        return String::new();
    }
    let each = presumed.iter().map(|row| format!("{} ({})", row.opcode, grouped(row.count as u64)));
    let mut sources: Vec<&str> = presumed.iter().map(|row| row.source.as_str()).collect();
    sources.dedup();
    let sources: String = sources.iter().map(|source| format!("  source: {source}\n")).collect();
    format!("\npresumed to be taken, no document lists them: {}\n{sources}", each.collect::<Vec<_>>().join(", "))
}

fn level(rule: &BrokenRule) -> String {
    if rule.allowed { format!("{}, allowed", rule.level) } else { rule.level.to_owned() }
}

/// The largest number of different findings of one rule that are shown.
const SHOWN: usize = 4;

fn describe_rule(rule: &BrokenRule) -> String {
    let mut text = format!("\n{}: {}\n", rule.rule, rule.consequence);
    for found in rule.found.iter().take(SHOWN) {
        let Found { what, count, code, .. } = found;
        let times = if *count > 1 { format!(", {} times", grouped(*count as u64)) } else { String::new() };
        let code = code.as_ref().map_or_else(String::new, |code| format!(" ({code})"));
        text.push_str(&format!("  {what}{code}{times}\n"));
        for BlamedInstruction { name, scope, line, .. } in &found.instructions {
            let place = [scope, line].into_iter().filter(|part| !part.is_empty()).map(|part| format!("  {part}"));
            text.push_str(&format!("    %{name}{}\n", place.collect::<String>()));
        }
    }
    if rule.found.len() > SHOWN {
        text.push_str(&format!("  and {} more\n", rule.found.len() - SHOWN));
    }
    let mut sources: Vec<&str> = rule.found.iter().map(|found| found.source.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    let allow = format!("; `--allow {}` lets it through", rule.rule);
    text.push_str(&format!("  instead: {}{}\n", rule.remedy, if rule.waivable { &allow } else { "" }));
    sources.iter().for_each(|source| text.push_str(&format!("  source: {source}\n")));
    text
}

fn verdict(report: &Report) -> String {
    let of = |level: &str| report.broken.iter().filter(|rule| rule.level == level && !rule.allowed).count();
    let (errors, warnings) = (of("error"), of("warning"));
    let doubts = if warnings == 0 { String::new() } else { format!(", {} in doubt", counted(warnings, "rule")) };
    match errors {
        0 => format!("legal for {}{doubts}", report.target),
        errors => format!("not legal for {}: {} broken{doubts}", report.target, counted(errors, "rule")),
    }
}
