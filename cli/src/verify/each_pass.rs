//! `halite verify --each-pass`.

use super::{explain_sizes, name_culprit, refuse_to_judge, verdict};
use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::{counted, grouped, table};
use halite::source::Source;
use halite_runtime::Executor;
use halite_verify::{EachPassReport, PassRow, Study, VerifyOptions, VerifyRow};
use serde_json::json;
use std::sync::Arc;

/// Verifies after each optimization, with a bar; `bisect` asks for the rule of the one at fault.
pub(super) fn run(
    context: &Context,
    source: &Source,
    options: &VerifyOptions,
    executor: Arc<dyn Executor>,
    bisect: bool,
) -> Result<Output> {
    let spinner =
        bars::spinner(context, &format!("running the unoptimized {} of {}", options.role.name(), source.name));
    let study = Study::new(&context.session, source, options, executor)?;
    spinner.finish_and_clear();
    let bar = bars::bar(context, 0, "{bar:20.cyan/black.dim} {pos}/{len} optimizations  {eta}");
    let mut progress = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let mut report = study.each_pass(study.pipeline(), &mut progress)?;
    bar.finish_and_clear();
    if let Some(culprit) = report.culprit.as_mut().filter(|_| bisect) {
        let spinner = bars::spinner(context, &format!("looking for the rule of {}", culprit.pass));
        culprit.rule = study.rule(study.pipeline(), culprit)?;
        spinner.finish_and_clear();
    }
    let json = json!({"passed": report.passed(), "report": report});
    Ok(Output { failed: !report.passed(), ..Output::new(describe(&report), json) })
}

fn describe(report: &EachPassReport) -> String {
    let head = ["after", "pass", "instructions", "worst result", "error", "allowed", "verdict"];
    let rows = report.rows.iter().map(|row| {
        let PassRow { number, pass, application, instructions, worst, .. } = row;
        let number_of =
            |of: fn(&VerifyRow) -> f64| worst.as_ref().map_or("none".to_owned(), |row| format!("{:.2e}", of(row)));
        vec![
            number.to_string(),
            if *application > 1 { format!("{pass} ({application})") } else { pass.clone() },
            grouped(*instructions as u64),
            worst.as_ref().map_or("none", |row| row.name.as_str()).to_owned(),
            number_of(|row| row.error),
            number_of(|row| row.allowed),
            worst.as_ref().map_or("WRONG".to_owned(), verdict),
        ]
    });
    if !report.not_finite.is_empty() {
        return refuse_to_judge(&report.not_finite.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let mut text = table(&[head.map(str::to_owned).to_vec()].into_iter().chain(rows).collect::<Vec<_>>());
    text.push_str(&explain_sizes(&report.scaled));
    if let Some(failure) = report.rows.iter().find_map(|row| row.failure.as_ref()) {
        text.push_str(&format!("{failure}\n"));
    }
    text.push_str(&match &report.culprit {
        Some(culprit) => name_culprit(culprit),
        None => {
            let (changed, all) = (report.rows.len(), report.optimizations);
            format!(
                "results agree after each of {}; {} of them changed the module\n",
                counted(all, "optimization"),
                changed
            )
        }
    });
    text
}
