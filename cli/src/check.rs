//! `halite check`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::data_fit;
use crate::defaults;
use crate::deny::{Deny, unproven};
use crate::exit::exit_code;
use crate::streams;
use crate::table::counted;
use clap::Args;
use halite::compile::{CompileOptions, Compiled};
use halite_passes::Checked;
use serde_json::json;

/// Compile without writing anything, and report what looks wrong.
///
/// Each finding shows the line of the recipe or of the model that it is about, and what to do. Data that the recipe names are opened as
/// training would open them, and their tokenizer is compared with the model.
///
/// The precision audit finds sensitive ops, sums, gradients, losses and updates in fewer bits than `f32`, moments that
/// their element type does not resolve, and narrow weights that forget small updates. Each finding names the key of the
/// recipe that fixes it.
///
/// Causality is proven from the model alone: what the model shows at a position depends on no later token. A leak is an
/// error, at the line from which on the future is seen, and the exit code is 1.
///
/// The scale of the residual stream at the first step is computed from how weights start and shown for each layer: `added std` is the
/// standard deviation of what a layer adds to the stream, `std` that of the stream after it. Branches that make it grow with depth,
/// weights that never learn and inputs that reach nothing are findings, unless the recipe waives them with `check.waive`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite check hlat-7b
  halite check recipe.toml --deny
  halite check tiny --set precision=bf16 --json")]
pub(super) struct Check {
    /// Preset, built-in model, recipe or model file to check.
    input: String,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Exit with 1 when there is a finding; with `--deny unproven` only where something is not proven.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "warnings")]
    deny: Option<Deny>,
}

impl Check {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let source = context.session.load(&self.input, &self.set)?;
        let spinner = bars::spinner(context, &format!("checking {}", source.name));
        let compiled = context.session.compile(&source, &CompileOptions::default())?;
        let lints = context.session.lint(&source)?;
        spinner.finish_and_clear();
        let Compiled { bundle, mut warnings, audit, causality, replicas, .. } = compiled;
        warnings.extend(lints.findings);
        warnings.extend(data_fit::check(context, &source, &bundle));
        let findings = Deny::Warnings.count(&warnings);
        let found = if findings == 0 { "no findings".to_owned() } else { counted(findings, "finding") };
        let streams = streams::describe(&lints.streams);
        let causality = causality.map_or_else(|| "not checked".to_owned(), |verdict| verdict.to_string());
        let defaults = defaults::described(&source, &bundle.manifest.recipe).unwrap_or_default();
        let text = format!(
            "{defaults}{found}: looked at {}\ncausality: {causality}\nreplicas: {replicas}\n{streams}",
            describe(&audit.checked)
        );
        let streams = streams::figures(&lints.streams);
        let checked = figures(&audit.checked);
        let json = json!({
            "findings": findings,
            "unproven": unproven(&warnings),
            "causality": causality,
            "replicas": replicas.to_string(),
            "checked": checked,
            "residual": streams,
        });
        let failed = self.deny.is_some_and(|deny| deny.count(&warnings) > 0);
        // Data that the model cannot be trained on are wrong input.
        if exit_code(&warnings) > 0 {
            return Err(warnings);
        }
        Ok(Output { failed, warnings, ..Output::new(text, json) })
    }
}

fn describe(checked: &Checked) -> String {
    let Checked { sensitive, sums, gradients, weights, moments, .. } = *checked;
    let parts = [
        (sensitive, "sensitive op"),
        (sums, "sum"),
        (gradients, "gradient sum"),
        (weights, "weight"),
        (moments, "moment"),
    ];
    parts.map(|(number, thing)| counted(number, thing)).join(", ")
}

fn figures(checked: &Checked) -> serde_json::Value {
    let Checked { sensitive, sums, gradients, weights, moments, .. } = *checked;
    json!({"sensitive": sensitive, "sums": sums, "gradients": gradients, "weights": weights, "moments": moments})
}
