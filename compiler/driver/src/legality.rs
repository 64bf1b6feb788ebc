//! What a target says of the HLO of a bundle, as diagnostics with lines of the model.

use crate::estimate::logical_core;
use crate::neuron;
use crate::render::plain;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, OpMetadata, StackFrameIndexProto};
use halite_neuron::legality::{Finding, Presumed, Profile, check, presumed};
use halite_spec::target::{Basis, CompilerVersion, Level, Provenance, Rule};
use halite_spec::{ModuleRole, Recipe, Target};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Diagnostics, SourceMap, Span, codes};
use halite_target::Tables;
use indexmap::IndexMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What a target says of one module.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Legality {
    /// Rules that are broken; equal ones of different layers as one.
    pub findings: Vec<Repeated>,
    /// Names of the rules that are broken and that the recipe allows.
    pub allowed: BTreeSet<String>,
    /// Opcodes that no document lists and that the target is presumed to take.
    pub presumed: BTreeSet<String>,
}

/// An error or warning, and how often a module gives cause for it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Repeated {
    /// The error or warning.
    pub finding: Diagnostic,
    /// How often.
    pub times: usize,
}

impl Repeated {
    /// An error or warning that a module gives cause for so many times.
    pub fn new(finding: Diagnostic, times: usize) -> Self {
        Self { finding, times }
    }
}

/// The rules that a recipe holds its modules to, under its flags.
pub fn profile(recipe: &Recipe) -> Profile {
    let flags = neuron::flags(recipe);
    Profile {
        target: recipe.target,
        version: neuron::version(recipe).clone(),
        logical_core: logical_core(recipe.target, &flags),
        downcasts: downcasts(&flags, recipe.target, neuron::version(recipe)),
        allow: recipe.neuron.allow.clone(),
    }
}

/// The flag of `neuronx-cc` that names ops whose integers it may cast down.
const DOWNCAST: &str = "--implicit-integer-downcast";

/// What that flag names: for its value `default`, which stands for all of them, what the version makes of it.
fn downcasts(flags: &[String], target: Target, version: &CompilerVersion) -> Vec<String> {
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

/// A warning where the rules of a version of the compiler give way to those of another.
pub fn unknown_version(wanted: &CompilerVersion) -> Option<Diagnostic> {
    let tables = Tables::builtin();
    let used = tables.nearest(Some(wanted));
    let message = format!("the rules of `neuronx-cc` {wanted} are not known; those of {used} are used");
    (used != wanted).then(|| {
        let known = format!("versions from {} to {} are known", tables.oldest(), tables.newest());
        Diagnostic::warning(codes::COMPILER_VERSION, message).note(known)
    })
}

/// Holds a module to the rules of the recipe's target; nothing is said of CPU XLA.
pub(crate) fn check_module(hlo: &HloModuleProto, recipe: &Recipe, sources: &SourceMap) -> Legality {
    if !recipe.target.is_neuron() {
        return Legality::default();
    }
    let profile = profile(recipe);
    let of_opcode = |presumed: Presumed| presumed.opcode;
    let presumed = presumed(hlo, recipe.target).into_iter().map(of_opcode).collect();
    let mut legality = Legality { presumed, ..Legality::default() };
    let mut places: IndexMap<(&str, Option<Origin<'_>>, String), Vec<Finding<'_>>> = IndexMap::new();
    for finding in check(hlo, &profile) {
        if finding.allowed {
            legality.allowed.insert(finding.rule.id.clone());
            continue;
        }
        let origin = finding.instruction.and_then(|inst| origin(inst, hlo));
        let place = origin.map(|origin| Origin { scope: "", ..origin });
        places.entry((&finding.rule.id, place, finding.found.clone())).or_default().push(finding);
    }
    let repeated = places.into_iter().map(|((_, origin, _), findings)| Repeated {
        finding: diagnose(&findings[0], origin, &profile, sources),
        times: findings.len(),
    });
    legality.findings = repeated.collect();
    legality
}

/// The first of the findings that say the same of one line of the model.
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
        .note(format!("source: {}", cite(provenance)))
        .help(way_out(rule))
}

/// A source with what it is worth: `some.rst (documented, read 2026-10)`.
pub fn cite(provenance: &Provenance) -> String {
    let Provenance { source, read, basis } = provenance;
    let basis = match basis {
        Basis::Inferred => "our conclusion",
        basis => basis.name(),
    };
    format!("{source} ({basis}, read {read})")
}

fn way_out(rule: &Rule) -> String {
    match rule.waivable {
        true => format!("{}; `neuron.allow = [\"{}\"]` lets it through", rule.remedy, rule.id),
        false => rule.remedy.clone(),
    }
}

/// Where an instruction comes from, by its metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Origin<'a> {
    /// The scopes that it stands in.
    pub scope: &'a str,
    /// The file.
    pub file: &'a str,
    /// The line from 1; 0 when it is not known.
    pub line: i32,
    /// The first column from 1 and the one after the last; 0 when they are not known.
    pub columns: [i32; 2],
}

/// Where an instruction comes from: what its metadata says itself, or the innermost frame of its call stack.
pub(crate) fn origin<'a>(inst: &'a HloInstructionProto, module: &'a HloModuleProto) -> Option<Origin<'a>> {
    let metadata: &OpMetadata = inst.metadata.as_deref()?;
    let own = Origin {
        scope: &metadata.op_name,
        file: &metadata.source_file,
        line: metadata.source_line,
        columns: [metadata.source_column, metadata.source_end_column],
    };
    if !own.file.is_empty() {
        return Some(own);
    }
    let framed = module.stack_frame_index.as_ref().and_then(|index| frame(index, metadata.stack_frame_id));
    Some(framed.map_or(own, |(file, line)| Origin { file, line, ..own }))
}

fn frame(index: &StackFrameIndexProto, id: i32) -> Option<(&str, i32)> {
    let at = |id: i32| usize::try_from(id).ok()?.checked_sub(1);
    let location = index.file_locations.get(at(index.stack_frames.get(at(id)?)?.file_location_id)?)?;
    Some((index.file_names.get(at(location.file_name_id)?)?, location.line))
}

impl Origin<'_> {
    /// The place in a registered text; files are told by their name without folder.
    fn span(&self, sources: &SourceMap) -> Option<Span> {
        let stem = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let file = sources.files().find(|file| stem(file.name()) == stem(self.file))?;
        let line = usize::try_from(self.line).ok()?.checked_sub(1)?;
        let text = file.text().split_inclusive('\n').nth(line)?;
        let start: usize = file.text().split_inclusive('\n').take(line).map(str::len).sum();
        let indent = text.len() - text.trim_start().len();
        let byte = |column: i32| {
            let column = usize::try_from(column).ok()?.checked_sub(1)?;
            text.char_indices().nth(column).map(|(at, _)| at)
        };
        let [first, end] = self.columns.map(byte);
        let first = first.unwrap_or(indent);
        let end = end.filter(|&end| end > first).unwrap_or_else(|| text.trim_end().len().max(first));
        Some(Span::new(file.id(), start + first, start + end))
    }
}

/// What is wrong with allowing a rule of this name: it is unknown, or cannot be allowed.
pub fn refuse_allowed(id: &str) -> Option<Diagnostic> {
    let tables = Tables::builtin();
    match tables.rule(id) {
        Some(rule) if rule.waivable => None,
        Some(rule) => {
            let error = Diagnostic::error(codes::RECIPE_RANGE, format!("the rule `{id}` cannot be allowed"));
            Some(error.note(format!("where it is broken, {}", rule.consequence)).help(rule.remedy.clone()))
        }
        None => {
            let waivable = tables.rules.iter().filter(|rule| rule.waivable).map(|rule| rule.id.as_str());
            let error = Diagnostic::error(codes::RECIPE_RANGE, format!("no target has a rule `{id}`"));
            Some(error.help(suggestion(id, &waivable.collect::<Vec<_>>())))
        }
    }
}

/// What a target says of all modules of a bundle: equal findings once, however often they are found, errors first; then
/// the allowed rules that
/// nothing breaks, as errors if the training step is among the modules, and a word on targets that nobody used.
pub fn join<'a>(recipe: &Recipe, modules: impl IntoIterator<Item = (ModuleRole, &'a Legality)>) -> Diagnostics {
    if !recipe.target.is_neuron() {
        return Diagnostics::new();
    }
    let (mut found, mut allowed, mut has_step) = (Vec::<Repeated>::new(), BTreeSet::new(), false);
    for (role, module) in modules {
        has_step |= role == ModuleRole::TrainStep;
        allowed.extend(&module.allowed);
        for repeated in &module.findings {
            match found.iter_mut().find(|own| own.finding == repeated.finding) {
                Some(own) => own.times = own.times.max(repeated.times),
                None => found.push(repeated.clone()),
            }
        }
    }
    let counted = |Repeated { finding, times }| match times {
        1 => finding,
        _ => finding.note(format!("found {times} times in one module")),
    };
    let mut all: Diagnostics = found.into_iter().map(counted).collect();
    all.sort_by_key(|finding| Reverse(finding.severity()));
    let idle = recipe.neuron.allow.iter().enumerate().filter(|(_, id)| has_step && !allowed.contains(id));
    all.extend(idle.map(|(index, id)| {
        let error = Diagnostic::error(codes::PATTERN, format!("nothing breaks the rule `{id}`, which is allowed"));
        error.key(format!("neuron.allow.{index}")).help("remove it")
    }));
    all.extend(untested(recipe.target));
    all
}

/// A warning for targets that are known from documents alone.
pub fn untested(target: Target) -> Option<Diagnostic> {
    let row = Tables::builtin().hardware(target).filter(|row| row.untested)?;
    let message = format!("the rules of {target} are untested: no public training is known to have used it with HLO");
    Some(Diagnostic::warning(codes::DOUBTFUL, message).note(format!("source: {}", cite(&row.provenance))))
}
