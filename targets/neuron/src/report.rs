//! Checks any HLO against the rules of a target.

use crate::legality::{Finding, Presumed, Profile, check, presumed};
use crate::tables::{Level, Rule};
use halite_hlo::graph::Graph;
use halite_hlo::proto::HloModuleProto;
use halite_support::text::plain;
use halite_support::{Diagnostics, Severity};
use halite_target::{Origin, origin};
use indexmap::IndexMap;
use serde::Serialize;

/// The number of instructions that are named for each rule.
const SHOWN: usize = 3;

/// The result of checking a module against the rules of a target. Names and texts of the module are on one line, without the
/// characters that a terminal obeys.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the module.
    pub module: String,
    /// The generation whose rules they are, as recipes name it.
    pub target: String,
    /// The version of its compiler.
    pub compiler: String,
    /// Instructions of the module.
    pub instructions: usize,
    /// How many rules the target has.
    pub rules: usize,
    /// Whether no rule of level `error` is broken, except allowed ones.
    pub legal: bool,
    /// The rules that are broken, in the order of the table.
    pub broken: Vec<BrokenRule>,
    /// Opcodes that no document lists and that the target is presumed to take, by name.
    pub presumed: Vec<PresumedOpcode>,
    /// Errors of XLA's own rules.
    #[serde(skip)]
    pub faults: Diagnostics,
}

/// An opcode that no document lists.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct PresumedOpcode {
    /// The opcode as HLO names it.
    pub opcode: String,
    /// How many instructions have it.
    pub count: usize,
    /// The source of the presumption.
    pub source: String,
}

/// A rule that is broken.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The name of the rule, as in `--allow` and the table.
    pub rule: String,
    /// The level: `error` or `warning`.
    pub level: &'static str,
    /// Whether it was allowed.
    pub allowed: bool,
    /// The number of times that it is broken.
    pub count: usize,
    /// The consequence on the target.
    pub consequence: String,
    /// The remedy.
    pub remedy: String,
    /// Whether the rule can be allowed.
    pub waivable: bool,
    /// The first of what was found, different ones only.
    pub found: Vec<Found>,
}

/// One way in which a rule is broken.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The problem.
    pub what: String,
    /// The number of times that it was found.
    pub count: usize,
    /// The compiler's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The source of the finding, and how reliable it is.
    pub source: String,
    /// The first instructions.
    pub instructions: Vec<BlamedInstruction>,
}

/// An instruction that breaks a rule, as reports name it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct BlamedInstruction {
    /// Its name in the module, without `%`.
    pub name: String,
    /// The scopes that it stands in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// The line that it comes from: `file:line`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub line: String,
}

/// Checks that a module is sound, and checks it against the rules of a profile.
pub fn report(hlo: &Graph, profile: &Profile) -> Report {
    let (findings, module) = (check(hlo, profile), hlo.module());
    let broken: Vec<BrokenRule> = profile
        .rules()
        .filter_map(|rule| {
            let own: Vec<&Finding<'_>> = findings.iter().filter(|finding| finding.rule.id == rule.id).collect();
            (!own.is_empty()).then(|| broken(rule, &own, module))
        })
        .collect();
    let refuses = |rule: &BrokenRule| rule.level == Level::Error.name() && !rule.allowed;
    Report {
        module: plain(&module.name),
        target: profile.target.to_string(),
        compiler: profile.version.to_string(),
        instructions: hlo.len(),
        rules: profile.rules().count(),
        legal: !broken.iter().any(refuses),
        broken,
        presumed: presumed(hlo, profile.target).into_iter().map(presumed_opcode).collect(),
        faults: halite_hlo::check(hlo).into_iter().filter(|fault| fault.severity() >= Severity::Error).collect(),
    }
}

fn presumed_opcode(presumed: Presumed) -> PresumedOpcode {
    let Presumed { opcode, count, provenance, .. } = presumed;
    PresumedOpcode { opcode, count, source: provenance.cite() }
}

fn broken(rule: &Rule, findings: &[&Finding<'_>], module: &HloModuleProto) -> BrokenRule {
    let mut different: IndexMap<&str, Found> = IndexMap::new();
    for finding in findings {
        let found = different.entry(finding.found.as_str()).or_insert_with(|| Found {
            what: plain(&finding.found),
            count: 0,
            code: finding.code.map(|code| format!("NCC_{code}")),
            source: finding.provenance.cite(),
            instructions: Vec::new(),
        });
        found.count += 1;
        if let Some(inst) = finding.instruction.filter(|_| found.instructions.len() < SHOWN) {
            let origin = origin(inst, module);
            found.instructions.push(BlamedInstruction {
                name: plain(&inst.name),
                scope: origin.map_or_else(String::new, |origin| plain(origin.scope)),
                line: origin.map_or_else(String::new, line),
            });
        }
    }
    BrokenRule {
        rule: rule.id.clone(),
        level: rule.level.name(),
        allowed: findings.iter().all(|finding| finding.allowed),
        count: findings.len(),
        consequence: rule.consequence.clone(),
        remedy: rule.remedy.clone(),
        waivable: rule.waivable,
        found: different.into_values().collect(),
    }
}

fn line(origin: Origin<'_>) -> String {
    match (origin.file, origin.line) {
        ("", _) => String::new(),
        (file, 0) => plain(file),
        (file, line) => format!("{}:{line}", plain(file.rsplit('/').next().unwrap_or(file))),
    }
}
