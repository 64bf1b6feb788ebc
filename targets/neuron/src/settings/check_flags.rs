//! Errors in the flags of a recipe.

use super::flags::{
    AUTO_CAST, AUTO_CAST_TYPE, LOGICAL_CORES, NARROW_ACCUMULATION, TARGET, WIDE_ACCUMULATION, accumulation,
    logical_core_sizes, narrowest_sum,
};
use super::given::{Given, read};
use super::version;
use crate::Tables;
use crate::memory::INSTRUCTION_LIMIT;
use crate::tables::{CompilerFlag, CompilerVersion, FlagGiver};
use crate::{Generation, Neuron};
use halite_recipe::{Precision, Recipe, TargetName};
use halite_support::nearest::{list, suggestion};
use halite_support::{Diagnostic, Diagnostics, codes};

/// Every flag that `neuronx-cc` does not take, or that would change what the program means.
pub(super) fn check(recipe: &Recipe, table: &Neuron) -> Diagnostics {
    let given = read(&table.flags);
    let taker = Taker { target: &recipe.target, generation: Generation::of(recipe), version: version(table) };
    let mistake = |(at, given): (usize, &Given<'_>)| {
        let mistake =
            refuse(given, &recipe.precision, &taker).or_else(|| contradicted(given, &read(&table.flags)[..at]));
        Some(mistake?.key(given.key()))
    };
    given.iter().enumerate().filter_map(mistake).collect()
}

/// Flags that no documentation describes.
pub(super) fn warnings(table: &Neuron) -> Diagnostics {
    let warning = |given: &Given<'_>| {
        let name = given.name;
        let warn = |message: String| Diagnostic::warning(codes::FLAG, message).key(given.key());
        match given.flag {
            None => {
                let known: Vec<&str> = Tables::builtin().flags.iter().map(|flag| flag.name.as_str()).collect();
                let known = suggestion(name, &known);
                let help = if known.starts_with("did you mean") { known } else { "check its name".to_owned() };
                Some(warn(format!("`{name}` is no flag that is known of `neuronx-cc`")).help(help))
            }
            // The flag that advice on large modules names is no surprise.
            Some(flag) if flag.given_by == FlagGiver::Undocumented && name != INSTRUCTION_LIMIT => Some(
                warn(format!("`{name}` is a flag of `neuronx-cc` that is not documented"))
                    .note(format!("it was seen in {}: {}", flag.provenance.source, flag.summary))
                    .help("expect it to change or go with any version"),
            ),
            Some(_) => None,
        }
    };
    read(&table.flags).iter().filter_map(warning).collect()
}

/// The target and the version of the compiler that are to take the flags.
struct Taker<'a> {
    target: &'a TargetName,
    /// `None` for a recipe that is for another target for now.
    generation: Option<Generation>,
    version: CompilerVersion,
}

/// Returns the error in one flag.
fn refuse(given: &Given<'_>, precision: &Precision, taker: &Taker<'_>) -> Option<Diagnostic> {
    let written = &given.written[0];
    if !given.is_stray() && given.name.contains(char::is_whitespace) {
        let message = format!("`{written}` is one entry, which `neuronx-cc` takes as one word");
        let error = Diagnostic::error(codes::RECIPE_RANGE, message);
        return Some(error.help("write `--flag=value`, or the flag and its value as two entries"));
    }
    if given.is_stray() {
        let message = format!("`{written}` is no flag, and no value of the flag before it");
        return Some(wrong(message).help("remove it, or write `--flag=value`"));
    }
    let flag = given.flag?;
    let by_giver = match flag.given_by {
        FlagGiver::Wrapper => Some(
            wrong(format!("`{}` is a flag of wrappers, which `neuronx-cc` does not know", flag.name))
                .note(flag.summary.as_str())
                .help("remove it; `halite neuron compile` has a store of its own, which keeps no failures"),
        ),
        FlagGiver::Command => Some(
            wrong(format!("`{}` is for `halite neuron compile` to give", flag.name))
                .note(flag.summary.as_str())
                .help("remove it"),
        ),
        FlagGiver::Recipe | FlagGiver::Undocumented => None,
    };
    by_giver
        .or_else(|| refuse_precision(given, flag, precision))
        .or_else(|| refuse_value(given, flag))
        .or_else(|| refuse_target(given, flag, taker))
}

fn wrong(message: String) -> Diagnostic {
    Diagnostic::error(codes::FLAG, message)
}

/// A flag that hands element types over to the compiler.
fn refuse_precision(given: &Given<'_>, flag: &CompilerFlag, precision: &Precision) -> Option<Diagnostic> {
    let name = flag.name.as_str();
    let error = |message: String| Diagnostic::error(codes::ENVIRONMENT, message);
    match (name, given.value) {
        (AUTO_CAST, Some("none")) => None,
        (AUTO_CAST, value) => Some(
            error(format!("`{name}` is `{}`, and Halite compiles with `none`", value.unwrap_or_default()))
                .note("it has the compiler narrow what the program states wide")
                .help("remove it; it is replaced by `precision.operand`"),
        ),
        (AUTO_CAST_TYPE, _) => Some(
            error(format!("`{name}` has no place beside `{AUTO_CAST}=none`"))
                .note("it names the type to which the compiler narrows what the program states wide")
                .help("remove it; it is replaced by `precision.operand`"),
        ),
        (WIDE_ACCUMULATION | NARROW_ACCUMULATION, Some(value)) => Some(
            error(format!("`{name}` takes no value, and here has `{value}`"))
                .help("remove it; it is replaced by `precision.accumulate`"),
        ),
        (WIDE_ACCUMULATION | NARROW_ACCUMULATION, None) if name != accumulation(precision) => Some(
            error(format!("`{name}` contradicts `accumulate`, which is `{}`", narrowest_sum(precision)))
                .note(format!("Halite compiles with `{}` then", accumulation(precision)))
                .help("remove it; it is replaced by `precision.accumulate`"),
        ),
        _ => None,
    }
}

/// A value that the flag does not take.
fn refuse_value(given: &Given<'_>, flag: &CompilerFlag) -> Option<Diagnostic> {
    let name = &flag.name;
    match given.value {
        Some(value) if !flag.has_value() => {
            Some(wrong(format!("`{name}` takes no value, and here has `{value}`")).help(format!("write `{name}`")))
        }
        Some(value) if !flag.takes(value) => Some(wrong(format!("`{name}` does not take `{value}`")).help(takes(flag))),
        None if flag.has_value() => Some(wrong(format!("`{name}` has no value")).help(takes(flag))),
        _ => None,
    }
}

/// The values of a flag in words.
fn takes(flag: &CompilerFlag) -> String {
    let words = |values: &[String]| list(&values.iter().map(String::as_str).collect::<Vec<_>>());
    let values = format!("it takes {}", words(&flag.values));
    match flag.list.is_empty() {
        true => values,
        false => format!("{values}, or some of {} with commas between them", words(&flag.list)),
    }
}

/// A flag that the target does not take, or not in the version of the compiler.
fn refuse_target(given: &Given<'_>, flag: &CompilerFlag, taker: &Taker<'_>) -> Option<Diagnostic> {
    let (name, Taker { target, generation, version }) = (&flag.name, taker);
    if name == TARGET && given.value != Some(target.as_str()) {
        let message = format!("`{name}` is `{}`, and `target` is `{target}`", given.value.unwrap_or_default());
        return Some(wrong(message).help("remove it; it is replaced by `target`"));
    }
    if !flag.compiler.contains(version) {
        let range = [("before", &flag.compiler.since), ("from", &flag.compiler.until)];
        let range = range.iter().find_map(|(word, version)| Some(format!("{word} {}", version.as_ref()?)));
        let message = format!("`{name}` is no flag of `neuronx-cc` {version}");
        let note = range.map_or_else(String::new, |range| format!("versions {range} do not have it"));
        return Some(wrong(message).note(note).help("remove it, or set `neuron.compiler` to a version that has it"));
    }
    if generation.is_some_and(|generation| !flag.targets.contains(&generation)) {
        let targets: Vec<&str> = flag.targets.iter().map(|generation| generation.name()).collect();
        let message = format!("`{name}` is no flag for `{target}`");
        return Some(wrong(message).note(format!("it is one for {}", list(&targets))).help("remove it"));
    }
    refuse_logical_cores(given, flag, (*generation)?)
}

/// Logical cores of a size that the target does not have.
fn refuse_logical_cores(given: &Given<'_>, flag: &CompilerFlag, target: Generation) -> Option<Diagnostic> {
    let sizes: Vec<String> = logical_core_sizes(target).iter().map(u32::to_string).collect();
    let value = given.value?;
    if flag.name != LOGICAL_CORES || sizes.is_empty() || sizes.iter().any(|size| size == value) {
        return None;
    }
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    let message = format!("`{}` is `{value}`, which `{target}` does not take", flag.name);
    Some(wrong(message).note("the compiler refuses it with EARG001").help(format!("it takes {}", list(&sizes))))
}

/// A flag that was given before with another value, of which the compiler takes the last.
fn contradicted(given: &Given<'_>, before: &[Given<'_>]) -> Option<Diagnostic> {
    let flag = given.flag?;
    let other = before.iter().find(|other| other.flag == Some(flag) && other.value != given.value)?;
    let message = format!(
        "`{}` is given twice: `{}` and `{}`",
        flag.name,
        other.value.unwrap_or_default(),
        given.value.unwrap_or_default()
    );
    Some(Diagnostic::error(codes::RECIPE_CLASH, message).help("keep one of them"))
}
