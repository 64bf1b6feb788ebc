//! `halite verify`.

mod each_pass;

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::{counted, table};
use clap::Args;
use halite_bundle::ModuleRole;
use halite_passes::PipelineSpec;
use halite_recipe::TargetName;
use halite_runtime::Executor;
use halite_verify::{
    Causality, ChoiceCounts, Culprit, Leak, Outcome, VerifyOptions, VerifyReport, VerifyRow, check_told_apart,
};
use serde_json::json;
use std::sync::Arc;

/// Compare the optimized program with the unoptimized one on CPU XLA.
///
/// Both are compared with the unoptimized one in f64, on inputs that are drawn anew.
/// Exits with 1 when a result of the optimized program errs more than it may: 1.5 times the error of the unoptimized one
/// plus two units of roundoff, in more draws of inputs than chance explains, or 8 times that in one; when a value of the
/// forward module changes with a later token; or when the unoptimized program gives infinities or NaN, so that nothing can
/// be said. A right program is called wrong in at most one run of 10,000. The model is scaled down first unless `--full`
/// is given.
///
/// The stages of a pipeline run as a bundle of them does, and are compared with programs of the same recipe on one stage.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite verify tiny
  halite verify llama-7b --role forward
  halite verify llama-7b --target trn1
  halite verify tiny --set parallel.pipeline=2 --set accumulate=4
  halite verify tiny --bisect
  halite verify tiny --each-pass")]
pub(super) struct Verify {
    /// Preset, built-in model, recipe or model file.
    input: String,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The module to verify.
    #[arg(long, default_value = "train_step")]
    role: String,
    /// Target of the optimized program [default: that of the recipe]; kernels run as their decompositions.
    #[arg(long)]
    target: Option<String>,
    /// Keep the model at its full size.
    #[arg(long)]
    full: bool,
    /// Seed of the inputs, of further draws too.
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
        let mut source = context.session.load(&self.input, &self.set)?;
        if let Some(target) = self.target {
            source.recipe.target = TargetName::new(target);
        }
        let role = ModuleRole::new(self.role)?;
        let pipeline = self.passes.as_deref().map(str::parse::<PipelineSpec>).transpose()?;
        if let Some(pipeline) = &pipeline {
            context.session.passes.pipeline(pipeline)?;
        }
        let options = VerifyOptions { role, full: self.full, seed: self.seed, pipeline };
        context.session.elaborate(&source)?;
        let ranks = context.session.ranks(&source)?.num_ranks() * source.recipe.stages() as usize;
        let executor: Arc<dyn Executor> = Arc::new(context.executor(ranks)?);
        if self.each_pass {
            check_told_apart(&source)?;
            return each_pass::run(context, &source, &options, executor, self.bisect);
        }
        let spinner = bars::spinner(context, &format!("verifying {} of {}", options.role.name(), source.name));
        let report = halite_verify::verify(&context.session, &source, &options, executor.clone())?;
        let culprit = if self.bisect && !report.passed() && report.stages.is_none() {
            spinner.set_message("looking for the optimization at fault");
            halite_verify::bisect(&context.session, &source, &options, executor)?
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
    let head = ["result", "error", "unoptimized", "allowed", "draws", "error/allowed", "verdict"];
    let rows = report.rows.iter().map(|row| {
        let [error, unoptimized, allowed] =
            [row.error, row.unoptimized, row.allowed].map(|value| format!("{value:.2e}"));
        let (draws, ratio) = (row.draws.to_string(), format!("{:.2}", row.ratio));
        vec![row.name.clone(), error, unoptimized, allowed, draws, ratio, verdict(row)]
    });
    let mut text = table(&[head.map(str::to_owned).to_vec()].into_iter().chain(rows).collect::<Vec<_>>());
    text.push_str(&explain_sizes(&report.scaled));
    if let Some(stages) = &report.stages {
        text.push_str(&format!("{stages}, compared with one stage\n"));
    }
    if let Some(causality) = &report.causality {
        text.push_str(&explain_causality(causality));
    }
    let number = |outcome: fn(&VerifyRow) -> bool| report.rows.iter().filter(|row| outcome(row)).count();
    let not_finite: Vec<_> = report.not_finite().collect();
    if !not_finite.is_empty() {
        text.push_str(&refuse_to_judge(&not_finite));
    }
    text.push_str(&match (number(VerifyRow::is_wrong), number(VerifyRow::passed), report.rows.len()) {
        (0, right, all) if right == all => format!("all {all} results agree\n"),
        (0, right, _) => format!("the other {} agree\n", counted(right, "result")),
        (wrong, _, all) => format!("{wrong} of {all} results are wrong\n"),
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
    if report.stages.is_some() && !report.passed() {
        text.push_str("where it is an optimization, `--set parallel.pipeline=1 --bisect` may find it\n");
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

/// The verdict on a result, with the draws that decided it.
fn verdict(row: &VerifyRow) -> String {
    let VerifyRow { draws, above, .. } = row;
    match row.outcome {
        Outcome::Within => "ok".to_owned(),
        Outcome::Cleared => format!("ok, {above} of {draws} above"),
        Outcome::InDoubt => "in doubt".to_owned(),
        Outcome::FarAbove => "WRONG, far above".to_owned(),
        Outcome::OftenAbove => format!("WRONG, {above} of {draws} above"),
        Outcome::NotFinite => "reference not finite".to_owned(),
        _ => String::new(),
    }
}

/// Says that there is nothing to compare some results with.
pub(super) fn refuse_to_judge(names: &[&str]) -> String {
    let shown: Vec<_> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "CANNOT BE JUDGED: without optimizations too, in the recipe's precision or in f64, {}{more} {} infinities or NaN; \
         no optimization is blamed\n",
        shown.join(", "),
        if names.len() == 1 { "has" } else { "have" }
    )
}

/// Names the optimization at fault: its number, pass, application and rule.
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
