//! `halite check`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::deny::{Deny, unproven};
use crate::streams;
use crate::table::counted;
use clap::Args;
use halite::compile::{CompileOptions, Compiled};
use halite_passes::Checked;
use serde_json::json;

/// Compile without writing anything, and report what looks wrong, with the lines of the model.
///
/// The precision audit finds sensitive ops, sums, gradients, losses and updates in fewer bits than `f32`, moments that
/// their element type does not resolve, and narrow weights that forget small updates. Each finding names the key of the
/// recipe that fixes it.
///
/// Causality is proven from the model alone: what the model shows at a position depends on no later token. A leak is an
/// error, at the line from which on the future is seen, and the exit code is 1.
///
/// The scale of the residual stream at the first step is computed from how weights start and shown for each layer.
/// Branches that make it grow with depth, weights that never learn and inputs that reach nothing are findings, unless the
/// recipe waives them with `check.waive`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite check hlat-7b
  halite check recipe.toml --deny
  halite check tiny --set precision=bf16 --json")]
pub(super) struct Check {
    /// Preset, built-in model, recipe or model file.
    input: String,
    /// Override a key of the recipe or of the model.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Exit with 1 when there is a finding, or with `--deny unproven` when something is not proven.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "warnings")]
    deny: Option<Deny>,
}

impl Check {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let source = context.load(&self.input, &self.set)?;
        let spinner = bars::spinner(context, &format!("checking {}", source.name));
        let compiled = context.session.compile(&source, &CompileOptions::default())?;
        let lints = context.session.lint(&source)?;
        spinner.finish_and_clear();
        let Compiled { mut warnings, audit, causality, replicas, .. } = compiled;
        warnings.extend(lints.findings);
        let found = if warnings.is_empty() { "no findings".to_owned() } else { counted(warnings.len(), "finding") };
        let streams = streams::describe(&lints.streams);
        let causality = causality.map_or_else(|| "not checked".to_owned(), |verdict| verdict.to_string());
        let text = format!(
            "{found}: looked at {}\ncausality: {causality}\nreplicas: {replicas}\n{streams}",
            describe(&audit.checked)
        );
        let streams = streams::figures(&lints.streams);
        let (checked, findings) = (figures(&audit.checked), warnings.len());
        let json = json!({
            "findings": findings,
            "unproven": unproven(&warnings),
            "causality": causality,
            "replicas": replicas.to_string(),
            "checked": checked,
            "residual": streams,
        });
        let failed = self.deny.is_some_and(|deny| deny.count(&warnings) > 0);
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
