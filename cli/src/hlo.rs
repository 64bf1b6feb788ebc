//! `halite hlo`.

use crate::context::{Context, Output, Result};
use crate::table::{counted, grouped, table};
use clap::{Args, Subcommand};
use halite_hlo::graph::Graph;
use halite_neuron::Tables;
use halite_neuron::legality::Profile;
use halite_neuron::report::{BlamedInstruction, BrokenRule, Found, PresumedOpcode, Report, report};
use halite_neuron::tables::{CompilerVersion, Rule};
use halite_neuron::{Generation, refuse_allowed, unknown_version, untested};
use halite_support::{Diagnostic, Diagnostics, codes, files};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Check HLO from any source.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  halite hlo check step.hlo.pb --target trn1
  halite hlo check --rules --target trn2")]
pub(super) enum Hlo {
    /// Check HLO against the rules of a Neuron target.
    Check(Check),
}

impl Hlo {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        match self {
            Hlo::Check(check) => check.run(context),
        }
    }
}

/// Check HLO against the rules of a Neuron target: what would not compile, would fail at run time or would compute something
/// else.
///
/// FILE is a serialized HloModuleProto: a module of a bundle, or what JAX gives with
/// `lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()`. Each rule names its source. The exit code is 1 when a
/// rule of level `error` is broken, 2 when the file holds no sound HLO for another reason.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite hlo check step.hlo.pb --target trn1
  halite hlo check step.hlo.pb --target trn2 --compiler 2.27.5334
  halite hlo check step.hlo.pb --target trn1 --allow wide-integer --json
  halite hlo check --rules --target trn2")]
pub(super) struct Check {
    /// The `.pb` file.
    #[arg(required_unless_present = "rules")]
    file: Option<PathBuf>,
    /// The target to check for.
    #[arg(long)]
    target: String,
    /// The version of `neuronx-cc` [default: the newest known].
    #[arg(long, value_name = "VERSION")]
    compiler: Option<String>,
    /// Physical cores per logical core [default: that of the target].
    #[arg(long, value_name = "N")]
    logical_core: Option<u32>,
    /// Allow this rule to be broken; may be given several times.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// List the rules of the target instead.
    #[arg(long, conflicts_with = "file")]
    rules: bool,
}

impl Check {
    fn run(self, _: &mut Context) -> Result<Output> {
        let profile = self.profile()?;
        let unknown = self.compiler()?.as_ref().and_then(unknown_version);
        let unknown = unknown.map(|warning| warning.help("give a version that is known"));
        let Some(file) = self.file.as_deref().filter(|_| !self.rules) else {
            return Ok(Output { warnings: unknown.into_iter().collect(), ..rules(&profile) });
        };
        let mut report = report(&Graph::new(decode(file)?), &profile);
        let explain = |fault: Diagnostic| fault.context(format!("`{}`", file.display()));
        let faults: Diagnostics = std::mem::take(&mut report.faults).into_iter().map(explain).collect();
        if report.legal && !faults.is_empty() {
            return Err(faults);
        }
        let warnings =
            faults.into_iter().chain(unknown).chain(self.idle(&report)).chain(untested(profile.target)).collect();
        Ok(Output { warnings, failed: !report.legal, ..Output::new(describe(&report), json!(report)) })
    }

    fn profile(&self) -> Result<Profile> {
        let target = self.generation()?;
        let version = Tables::builtin().nearest(self.compiler()?.as_ref()).clone();
        let mut profile = Profile { version, allow: self.allow.clone(), ..Profile::new(target) };
        profile.logical_core = self.logical_core(profile.logical_core)?;
        let mistakes: Diagnostics = self.allow.iter().filter_map(|id| refuse_allowed(id)).collect();
        if mistakes.is_empty() { Ok(profile) } else { Err(mistakes) }
    }

    fn generation(&self) -> Result<Generation> {
        let target = &self.target;
        Ok(Generation::named(&target.as_str().into()).ok_or_else(|| {
            let message = format!("there are no rules for the target `{target}`: XLA takes what it made itself");
            Diagnostic::error(codes::USAGE, message).help("name a Neuron target, such as `trn1`")
        })?)
    }

    fn compiler(&self) -> Result<Option<CompilerVersion>> {
        let wrong = |message: String| {
            let help = "write the numbers of a version, such as `--compiler 2.27.5334`";
            Diagnostic::error(codes::USAGE, message).help(help)
        };
        Ok(self.compiler.clone().map(CompilerVersion::try_from).transpose().map_err(wrong)?)
    }

    fn logical_core(&self, default: u32) -> Result<u32> {
        let target = self.generation()?;
        let sizes = Tables::builtin().hardware(target).map_or(&[][..], |hardware| &hardware.logical_core_sizes);
        match self.logical_core {
            Some(stated) if !sizes.contains(&stated) => {
                let message = format!("a logical core of {target} does not join {stated} physical ones");
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                Err(Diagnostic::error(codes::USAGE, message).help(format!("choose from {}", sizes.join(", "))).into())
            }
            stated => Ok(stated.unwrap_or(default)),
        }
    }

    /// Rules that are allowed and that nothing breaks.
    fn idle(&self, report: &Report) -> Diagnostics {
        let idle = self.allow.iter().filter(|id| report.broken.iter().all(|rule| rule.rule != **id));
        let explain = |id: &String| {
            let message = format!("nothing breaks the rule `{id}`, which is allowed");
            Diagnostic::warning(codes::PATTERN, message).help(format!("leave out `--allow {id}`"))
        };
        idle.map(explain).collect()
    }
}

fn decode(file: &Path) -> Result<halite_hlo::proto::HloModuleProto> {
    let bytes = files::read(file)?;
    let explain = |error: Diagnostic| {
        error.context(format!("`{}`", file.display())).help("give a serialized HloModuleProto; text is not read")
    };
    Ok(halite_hlo::decode(&bytes).map_err(explain)?)
}

/// The rules of a target.
fn rules(profile: &Profile) -> Output {
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

fn describe(report: &Report) -> String {
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

/// How many different findings of one rule are shown.
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
