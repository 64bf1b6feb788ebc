//! `halite compile`.

use crate::bars;
use crate::context::{Context, Output, Result};
use crate::data_fit;
use crate::defaults;
use crate::deny::{Deny, denied, unproven};
use crate::table::{bytes, counted, facts, grouped, short};
use crate::{estimate, explain, memory, plan, stages};
use clap::{Args, ValueEnum};
use halite::Bundle;
use halite::compile::{CompileOptions, Compiled};
use halite::dump::DumpFilter;
use halite::roles::Roles;
use halite_bundle::{Manifest, Statistics};
use halite_ir::LowerOptions;
use halite_neuron::Generation;
use halite_support::{Diagnostics, codes};
use indexmap::IndexSet;
use serde_json::json;
use std::path::PathBuf;

/// Compile a recipe to a bundle of HLO modules.
///
/// INPUT is a preset such as `tiny` or `hlat-7b` (`halite list` names them), a recipe (.toml), or a model: one that is built in, a
/// definition (.hal), a program of JAX with its roles (.mlir or .pb, as `save` of `halite.jax.model` writes it), or the config.json of a
/// checkpoint of Hugging Face's Transformers. A model without a recipe is trained by AdamW with a peak rate of 1e-3, gradients clipped to a
/// norm of 1, and `batch` and `seq` as its `config` says.
///
/// The bundle is written whole or not at all; the same input gives the same bytes. Needs no accelerator, no XLA and no
/// Python.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite compile hlat-7b -o build/hlat-7b
  halite compile tiny --set layers=4 --set optimizer.adamw.lr=1e-3
  halite compile recipe.toml --role forward --emit hlo-text
  halite compile tiny --emit stablehlo
  halite compile model.hal --dump-ir 'auto-*'
  halite compile model.mlir --role train_step --target trn2
  halite compile Llama-3.1-8B/config.json --set batch=1 --set seq=4096
  halite compile hlat-7b --explain")]
pub(super) struct Compile {
    /// Preset, built-in model, recipe or model file to compile.
    input: String,
    /// The bundle's folder [default: build/NAME].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Compile only these modules, separated by commas [default: train_step, forward, eval].
    #[arg(long, value_delimiter = ',')]
    role: Vec<String>,
    /// Also write each module in these forms, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    emit: Vec<Emit>,
    /// Also write the IR before and after passes whose name matches (`*` matches any text).
    #[arg(long, value_name = "PASS")]
    dump_ir: Option<String>,
    /// Fail, and write nothing, when there is a warning; with `--deny unproven` only where something is not proven.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "warnings")]
    deny: Option<Deny>,
    /// Show what passes decided and why: which patterns matched, and what kept others from matching.
    #[arg(long)]
    explain: bool,
    /// Record how each conversion to a narrower type rounds, in the frontend attribute `halite.rounding`.
    #[arg(long)]
    rounding_attributes: bool,
    /// The target to compile for [default: that of the recipe].
    #[arg(long)]
    target: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Emit {
    /// The HLO as text, MODULE.hlo.txt.
    HloText,
    /// The same program as text of MLIR, MODULE.mlir, for tools that take StableHLO.
    Stablehlo,
    /// The IR that became the HLO, MODULE.ir.
    Ir,
}

impl Compile {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let target = self.target.as_ref().map(|target| format!("target={target}"));
        let source = context.session.load(&self.input, &[self.set.clone(), target.into_iter().collect()].concat())?;
        let folder = self.output.clone().unwrap_or_else(|| PathBuf::from("build").join(&source.name));
        let spinner = bars::spinner(context, &format!("compiling {}", source.name));
        let start = std::time::Instant::now();
        let mut compiled = context.session.compile(&source, &self.options(&context.session.roles))?;
        let elapsed = start.elapsed();
        spinner.finish_and_clear();
        compiled.warnings.extend(data_fit::tokenizer(context, &source, &compiled.bundle));
        if let Some(denied) = denied(self.deny, &compiled.warnings) {
            return Ok(denied);
        }
        compiled.bundle.write(&folder)?;
        let place = folder.display().to_string();
        let mut text = String::new();
        if context.shows_progress() {
            let told = plan::summary(context, &compiled.bundle.manifest);
            let figures = describe(&compiled.bundle, memory::peak(context, &compiled.bundle)?, told);
            text = format!("{} compiled in {} ms\n{figures}", source.name, elapsed.as_millis());
            text.push_str(&defaults::described(&source, &compiled.bundle.manifest.recipe).unwrap_or_default());
            text.push_str(&describe_presumed(&compiled));
            text.push_str(&describe_doubts(doubts(&compiled.warnings)));
            text.push_str(&describe_unproven(unproven(&compiled.warnings)));
        }
        text.push_str(&format!("wrote {place}\n"));
        let names: Vec<&str> = compiled.bundle.files.keys().map(String::as_str).collect();
        let statistics = &compiled.bundle.manifest.statistics;
        let (unproven, doubts) = (unproven(&compiled.warnings), doubts(&compiled.warnings));
        let mut json = json!({
            "bundle": place, "files": names, "statistics": statistics, "unproven": unproven, "in_doubt": doubts,
        });
        if self.explain {
            text.insert_str(0, &explain::explanation(&compiled.remarks));
            json["remarks"] = explain::json(&compiled.remarks);
        }
        Ok(Output { warnings: compiled.warnings, ..Output::new(text, json) })
    }

    fn options(&self, roles: &Roles) -> CompileOptions {
        let mut options = CompileOptions {
            emit_hlo_text: self.emit.contains(&Emit::HloText),
            emit_stablehlo: self.emit.contains(&Emit::Stablehlo),
            emit_ir: self.emit.contains(&Emit::Ir),
            lower: LowerOptions { rounding: self.rounding_attributes, ..LowerOptions::default() },
            dumps: self.dump_ir.clone().map(DumpFilter::new),
            explain: self.explain,
            ..CompileOptions::default()
        };
        if !self.role.is_empty() {
            let wanted = roles.iter().filter(|role| self.role.iter().any(|wanted| wanted == role.name.name()));
            options.roles = wanted.map(|role| role.name.clone()).collect();
        }
        options
    }
}

/// Names the opcodes that the target is presumed to take although no document lists them; empty where there are none.
fn describe_presumed(compiled: &Compiled) -> String {
    let opcodes: Vec<&str> = compiled.presumed.iter().map(String::as_str).collect();
    if opcodes.is_empty() {
        return String::new();
    }
    format!("presumed to be taken, no document lists them: {}\n", opcodes.join(", "))
}

/// The number of warnings that the target may not take something.
fn doubts(warnings: &Diagnostics) -> usize {
    warnings.iter().filter(|warning| warning.code().id == codes::DOUBTFUL.id).count()
}

/// Says that rules of the target are in doubt; the warnings above have the details.
fn describe_doubts(count: usize) -> String {
    if count == 0 { String::new() } else { format!("legal, but in doubt: {}, see above\n", counted(count, "finding")) }
}

/// Says that something is not proven; the warnings above have the details.
fn describe_unproven(count: usize) -> String {
    if count == 0 { String::new() } else { format!("not proven: {}, see above\n", counted(count, "claim")) }
}

/// The modules of a bundle by name; those of stages by role, with their number.
fn modules(manifest: &Manifest) -> String {
    if manifest.num_stages() == 1 {
        return manifest.modules.iter().map(|module| module.name.as_str()).collect::<Vec<_>>().join(", ");
    }
    let roles: IndexSet<&str> = manifest.modules.iter().map(|module| module.role.name()).collect();
    let files: IndexSet<&str> = manifest.modules.iter().map(|module| module.file.as_str()).collect();
    let roles: Vec<&str> = roles.into_iter().collect();
    format!("{}: {} programs, of which {} differ", roles.join(", "), manifest.modules.len(), files.len())
}

/// The bytes of all state, and of what one of several ranks holds.
fn state(manifest: &Manifest) -> String {
    let all = bytes(manifest.statistics.state_bytes);
    match manifest.num_ranks() {
        1 => all,
        _ => format!("{all}, {} on a core", bytes(manifest.local_state_bytes())),
    }
}

/// The operations that the model asks for a token, and those of its programs where they are more.
fn matmul_flops(statistics: &Statistics) -> String {
    let (asked, done) = (short(statistics.model_flops_per_token), short(statistics.matmul_flops_per_token));
    let is_more = statistics.matmul_flops_per_token > statistics.model_flops_per_token && asked != done;
    if is_more { format!("{asked}, {done} with what is computed again") } else { asked }
}

/// The figures of a bundle, with the most that a core holds, and in which module, where it has no verdict on that, and what an update is
/// told to take.
pub(super) fn describe(bundle: &Bundle, peak: Option<(String, u64)>, told: Option<String>) -> String {
    let manifest = &bundle.manifest;
    let statistics = &manifest.statistics;
    let mut pairs = vec![
        ("model", manifest.model.name.clone()),
        ("parameters", grouped(statistics.parameters)),
        ("state", state(manifest)),
        ("tokens per step", grouped(statistics.tokens_per_step)),
        ("matmul FLOPs per token", matmul_flops(statistics)),
        ("HLO instructions", grouped(statistics.hlo_instructions)),
        ("modules", modules(manifest)),
    ];
    pairs.extend(stages::summary(&manifest.recipe).map(|summary| ("stages", summary)));
    if let Some(generation) = Generation::of(&manifest.recipe) {
        pairs.push(("legal", estimate::legal(&manifest.recipe, generation)));
    }
    if manifest.modules.iter().any(|module| module.estimate.is_some()) {
        pairs.push(("fits", estimate::fits(manifest)));
    }
    pairs.extend(told.map(|told| ("an update", told)));
    pairs.extend(peak.map(|(module, most)| ("peak", format!("about {} on a core (`{module}`)", bytes(most)))));
    facts(&pairs)
}
