//! Findings of the rules about the HLO of a bundle, as diagnostics with lines of the model.

use crate::legality::{Finding, Presumed, Profile, check, presumed};
use crate::memory::logical_core;
use crate::tables::{CompilerVersion, Level};
use crate::{Generation, Neuron, Tables, settings};
use halite_bundle::ModuleRole;
use halite_hlo::graph::Graph;
use halite_hlo::proto::HloInstructionProto;
use halite_recipe::{MeshAxis, Recipe};
use halite_support::text::plain;
use halite_support::{Diagnostic, Diagnostics, SourceMap, codes};
use halite_target::{ModuleCheck, Origin, Repeated, origin};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// The rules that a recipe holds its modules to, under its flags.
pub fn profile(recipe: &Recipe, generation: Generation) -> Profile {
    let (flags, table) = (settings::flags(recipe), Neuron::of(recipe));
    let version = settings::version(&table);
    Profile {
        target: generation,
        logical_core: logical_core(generation, &flags),
        downcasts: downcasts(&flags, generation, &version),
        version,
        allow: table.allow,
    }
}

/// The flag of `neuronx-cc` that names ops whose integers it may cast down.
const DOWNCAST: &str = "--implicit-integer-downcast";

/// Returns the ops that this flag names. Its value `default` is replaced by the default of the version; `all` if the table just says
/// `default` too.
fn downcasts(flags: &[String], target: Generation, version: &CompilerVersion) -> Vec<String> {
    let value = |flag: &'_ String| Some(flag.strip_prefix(DOWNCAST)?.strip_prefix('=')?.to_owned());
    let stated = flags.iter().find_map(value);
    let flag = Tables::builtin().flag(DOWNCAST);
    let value = match stated.as_deref() {
        Some("default") => flag.and_then(|flag| flag.default(target, version)),
        stated => stated,
    };
    match value {
        Some("default") => vec!["all".to_owned()],
        Some("none") | None => Vec::new(),
        Some(names) => names.split(',').map(str::to_owned).collect(),
    }
}

/// Checks a module against the rules of a recipe.
pub(crate) fn of_module(hlo: &Graph, recipe: &Recipe, generation: Generation, sources: &SourceMap) -> ModuleCheck {
    let profile = &profile(recipe, generation);
    let of_opcode = |presumed: Presumed| presumed.opcode;
    let presumed = presumed(hlo, profile.target).into_iter().map(of_opcode).collect();
    let mut checked = ModuleCheck { presumed, ..ModuleCheck::default() };
    let mut places: IndexMap<(&str, Option<Origin<'_>>, String), Vec<Finding<'_>>> = IndexMap::new();
    for finding in check(hlo, profile) {
        if finding.allowed {
            checked.allowed.insert(finding.rule.id.clone());
            continue;
        }
        let origin = finding.instruction.and_then(|inst| origin(inst, hlo.module()));
        let place = origin.map(|origin| Origin { scope: "", ..origin });
        places.entry((&finding.rule.id, place, finding.found.clone())).or_default().push(finding);
    }
    let repeated = places.into_iter().map(|((_, origin, _), findings)| {
        let found = diagnose(&findings[0], origin, profile, sources).help(way_out(&findings[0], recipe));
        Repeated::new(found, findings.len())
    });
    checked.findings = repeated.collect();
    checked
}

/// Makes a diagnostic of a finding. It stands for all findings that say the same about one line of the model.
fn diagnose(finding: &Finding<'_>, origin: Option<Origin<'_>>, profile: &Profile, sources: &SourceMap) -> Diagnostic {
    let Finding { rule, found, code, provenance, instruction, .. } = finding;
    let message = plain(found);
    let diagnostic = match rule.level {
        Level::Error => Diagnostic::error(codes::ILLEGAL, format!("{} does not take this: {message}", profile.target)),
        Level::Warning => {
            Diagnostic::warning(codes::DOUBTFUL, format!("{} may not take this: {message}", profile.target))
        }
    };
    let scope = instruction.and_then(|inst| inst.metadata.as_ref()).map_or("", |metadata| metadata.op_name.as_str());
    let scope = plain(scope);
    let label = if scope.is_empty() { "from here".to_owned() } else { format!("from here, in `{scope}`") };
    let code = code.map_or_else(String::new, |code| format!(" (NCC_{code})"));
    diagnostic
        .or_at(origin.and_then(|origin| origin.span(sources)), label)
        .note(format!("rule `{}`: {}{code}", rule.id, rule.consequence))
        .note(format!("source: {}", provenance.cite()))
}

/// The remedy of a rule, with the keys of a recipe that make the groups of a collective.
fn way_out(finding: &Finding<'_>, recipe: &Recipe) -> String {
    let rule = finding.rule;
    let keys = finding.instruction.filter(|_| OF_GROUPS.contains(&rule.id.as_str())).map(|inst| keys(inst, recipe));
    let keys: Vec<String> = keys.unwrap_or_default().into_iter().map(|key| format!("`{key}`")).collect();
    let made = if keys.is_empty() { String::new() } else { format!("; {} makes these groups", keys.join(" with ")) };
    let allow =
        if rule.waivable { format!("; `neuron.allow = [\"{}\"]` lets it through", rule.id) } else { String::new() };
    format!("{}{made}{allow}", rule.remedy)
}

/// Rules about the groups of a collective.
const OF_GROUPS: [&str; 3] = ["group-size", "group-placement", "group-lists"];

/// The keys of the axes along which the ranks of a collective's first group differ.
fn keys(inst: &HloInstructionProto, recipe: &Recipe) -> Vec<String> {
    let (Ok(mesh), Some(groups)) = (recipe.mesh(), inst.groups()) else { return Vec::new() };
    let ranks = groups.first().map_or(&[][..], |group| &group.replica_ids);
    let ranks: Vec<usize> = ranks.iter().filter_map(|&rank| usize::try_from(rank).ok()).collect();
    let differs = |axis: &MeshAxis| {
        let is_one = |at| ranks.windows(2).all(|pair| mesh.coordinate(at, pair[0]) == mesh.coordinate(at, pair[1]));
        mesh.sub_axes_of(axis.name()).any(|at| !is_one(at))
    };
    MeshAxis::ALL.into_iter().filter(differs).map(MeshAxis::key).collect()
}

/// Findings about all modules of a bundle together, beside those about each: allowed rules that nothing breaks, as errors if the
/// training step is among the modules, and a warning about generations that nobody has used.
pub(crate) fn of_bundle(
    recipe: &Recipe,
    generation: Generation,
    checks: &[(&ModuleRole, &ModuleCheck)],
) -> Diagnostics {
    let has_step = checks.iter().any(|(role, _)| **role == ModuleRole::TRAIN_STEP);
    let allowed: BTreeSet<&String> = checks.iter().flat_map(|(_, check)| &check.allowed).collect();
    let settings = Neuron::of(recipe);
    let idle = settings.allow.iter().enumerate().filter(|(_, id)| has_step && !allowed.contains(id));
    let idle = idle.map(|(index, id)| {
        let error = Diagnostic::error(codes::PATTERN, format!("nothing breaks the rule `{id}`, which is allowed"));
        error.key(format!("neuron.allow.{index}")).help("remove it")
    });
    idle.chain(untested(generation)).collect()
}

/// A warning for targets that are known from documents alone.
pub fn untested(target: Generation) -> Option<Diagnostic> {
    let row = Tables::builtin().hardware(target).filter(|row| row.untested)?;
    let message = format!("the rules of {target} are untested: no public training is known to have used it with HLO");
    Some(Diagnostic::warning(codes::DOUBTFUL, message).note(format!("source: {}", row.provenance.cite())))
}
