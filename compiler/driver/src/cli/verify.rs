//! `halite verify`.

mod each_pass;

use super::bars;
use super::context::{Context, Output, Result};
use super::table::{counted, table};
use super::target::TargetName;
use clap::Args;
use halite::verify::{Causality, ChoiceCounts, Culprit, Leak, VerifyOptions, VerifyReport};
use halite_spec::ModuleRole;
use serde_json::json;

/// Compare the optimized program with the unoptimized one, both on CPU XLA, and both with the unoptimized one in f64.
///
/// Exits with 1 when a result of the optimized program errs more than it may: 1.5 times the error of the unoptimized one
/// plus two units of roundoff; or when a value of the forward module changes with a later token. The model is scaled down
/// first unless `--full` is given.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite verify tiny
  halite verify hlat-7b --role forward
  halite verify hlat-7b --target trn1
  halite verify tiny --bisect
  halite verify tiny --each-pass")]
pub(super) struct Verify {
    /// Preset, recipe or model file.
    input: String,
    /// Override a key of the recipe or of the model.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The module to verify.
    #[arg(long, value_enum, default_value = "train_step")]
    role: super::compile::Role,
    /// What the optimized program is for [default: that of the recipe]; calls of kernels run as their twins.
    #[arg(long, value_enum)]
    target: Option<TargetName>,
    /// Keep the model at its full size.
    #[arg(long)]
    full: bool,
    /// Seed of the inputs.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Another pipeline than that of the role, as for `halite opt`.
    #[arg(long, value_name = "PASSES")]
    passes: Option<String>,
    /// When a result is wrong, find the optimization that makes it so, and its rule where the pass is made of rules.
    #[arg(long)]
    bisect: bool,
    /// Verify after each optimization, completed by the required passes, and name the first that makes a result wrong.
    #[arg(long)]
    each_pass: bool,
}

impl Verify {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let mut source = context.load(&self.input, &self.set)?;
        if let Some(target) = self.target {
            source.recipe.target = target.0;
        }
        let role = ModuleRole::from(self.role);
        let options = VerifyOptions { role, full: self.full, seed: self.seed, pipeline: self.passes.clone() };
        if let Some(passes) = &self.passes {
            context.session.passes.pipeline(passes)?;
        }
        context.session.elaborate(&source)?;
        let executor = context.executor()?;
        if self.each_pass {
            return each_pass::run(context, &source, &options, &executor, self.bisect);
        }
        let spinner = bars::spinner(context, &format!("verifying {} of {}", role.name(), source.name));
        let report = context.session.verify(&source, &options, &executor)?;
        let culprit = if self.bisect && !report.passed() {
            spinner.set_message("looking for the optimization at fault");
            context.session.bisect(&source, &options, &executor)?
        } else {
            None
        };
        spinner.finish_and_clear();
        let json = json!({"passed": report.passed(), "report": report, "culprit": culprit});
        let output = Output::new(describe(&report, culprit.as_ref()), json);
        Ok(Output { failed: !report.passed(), warnings: report.warnings, ..output })
    }
}

fn describe(report: &VerifyReport, culprit: Option<&Culprit>) -> String {
    let head = ["result", "error", "unoptimized", "allowed", "verdict"].map(str::to_owned).to_vec();
    let rows = report.rows.iter().map(|row| {
        let [error, unoptimized, allowed] =
            [row.error, row.unoptimized, row.allowed].map(|value| format!("{value:.2e}"));
        vec![row.name.clone(), error, unoptimized, allowed, if row.passed() { "ok" } else { "WRONG" }.to_owned()]
    });
    let mut text = table(&[head].into_iter().chain(rows).collect::<Vec<_>>());
    text.push_str(&explain_sizes(&report.scaled));
    let wrong = report.rows.iter().filter(|row| !row.passed()).count();
    if let Some(causality) = &report.causality {
        text.push_str(&explain_causality(causality));
    }
    text.push_str(&match wrong {
        0 => format!("all {} results agree\n", report.rows.len()),
        wrong => format!("{wrong} of {} results are wrong\n", report.rows.len()),
    });
    if let Some(ChoiceCounts { all, differ, wrong, .. }) = report.choices {
        text.push_str(&match wrong {
            0 => format!("choices: {differ} of {all} differ by rounding, compared on the same choices\n"),
            wrong => format!(
                "choices: {differ} of {all} differ, {wrong} by more than rounding, compared on the same choices\n"
            ),
        });
    }
    if let Some(culprit) = culprit {
        text.push_str(&name_culprit(culprit));
    }
    text
}

/// The sizes that were used where a small model has smaller ones than the recipe.
pub(super) fn explain_sizes(scaled: &[(String, i64, i64)]) -> String {
    let (kept, changed): (Vec<_>, Vec<_>) = scaled.iter().partition(|(_, from, to)| from == to);
    let list = |what: &str, sizes: Vec<String>, why: &str| match sizes.as_slice() {
        [] => String::new(),
        sizes => format!("{what}: {}{why}\n", sizes.join(", ")),
    };
    let changed = changed.iter().map(|(key, from, to)| format!("{key} {from} → {to}")).collect();
    let kept = kept.iter().map(|(key, size, _)| format!("{key} {size}")).collect();
    list("scaled down", changed, "") + &list("kept", kept, " (the model takes no smaller ones)")
}

/// What is known of the optimization at fault.
pub(super) fn name_culprit(culprit: &Culprit) -> String {
    let Culprit { pass, number, application, rule, .. } = culprit;
    let rule = rule.as_ref().map_or_else(String::new, |rule| format!(", rule `{rule}`"));
    format!("first wrong after optimization {number}: `{pass}`, application {application}{rule}\n")
}

fn explain_causality(causality: &Causality) -> String {
    let results = causality.results.join(", ");
    match &causality.leak {
        None => {
            let positions = counted(causality.positions, "position");
            format!("earlier {results} unchanged when later tokens change: bit-equal at {positions}\n")
        }
        Some(Leak { result, sequence, position, changed_from, .. }) => format!(
            "`{result}` is NOT causal: position {position} of sequence {sequence} changes with the tokens from \
             {changed_from} on\n"
        ),
    }
}
