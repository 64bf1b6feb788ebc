//! The pages on flags and environment say what the tables say.

use crate::repo::read;
use halite_neuron::Tables;
use halite_neuron::tables::{CompilerFlag, FlagDefault, FlagGiver, Setter, Variable, VersionRange};

const FLAGS: &str = "docs/neuron/flags.md";

const ENVIRONMENT: &str = "docs/neuron/environment.md";

#[test]
fn the_document_has_the_flags_of_the_table() {
    let flags = &Tables::builtin().flags;
    let documented = flags.iter().filter(|flag| flag.given_by == FlagGiver::Recipe);
    holds(FLAGS, "| flag | takes | without it | Halite writes | what it does |", documented.map(flag_row));
}

#[test]
fn the_document_has_the_variables_of_the_table() {
    let set_by = |setter| Tables::builtin().variables.iter().filter(move |variable| variable.set_by == setter);
    let set = set_by(Setter::Halite).chain(set_by(Setter::Recipe)).chain(set_by(Setter::Launcher));
    holds(ENVIRONMENT, "| variable | set by | without it | Halite writes | what it does |", set.map(variable_row));
    holds(ENVIRONMENT, "| variable | instead | forbidden |", set_by(Setter::Nobody).map(replaced_row));
}

/// The table of a document with this head has exactly these rows.
fn holds(document: &str, head: &str, rows: impl Iterator<Item = String>) {
    let rule = "|---".repeat(head.matches(" | ").count() + 1) + "|";
    let expected = [head.to_owned(), rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n");
    let text = read(document);
    let table = text.split("\n\n").find(|part| part.starts_with(head)).unwrap_or_default();
    assert!(table.trim_end() == expected, "{document} should hold\n\n{expected}\n");
}

fn row(cells: &[&str]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn flag_row(flag: &CompilerFlag) -> String {
    let names: Vec<String> = std::iter::once(&flag.name).chain(&flag.aliases).map(|name| code(name)).collect();
    let mut values: Vec<String> = flag.values.iter().filter(|value| *value != "*").map(|value| code(value)).collect();
    if values.len() < flag.values.len() {
        values.push("any".to_owned());
    }
    if !flag.list.is_empty() {
        values.push(format!("a list of {}", flag.list.iter().map(|value| code(value)).collect::<Vec<_>>().join(", ")));
    }
    let default = |default: &FlagDefault| {
        let targets: Vec<&str> = default.targets.iter().map(|target| target.name()).collect();
        let of = if targets.is_empty() { String::new() } else { format!(" on {}", targets.join(", ")) };
        code(&default.value) + &of + &versions(&default.compiler)
    };
    let defaults: Vec<String> = flag.defaults.iter().map(default).collect();
    let written = match flag.name.as_str() {
        "--target" => "the target".to_owned(),
        "--logical-nc-config" => "the first size of the target's logical cores".to_owned(),
        "--enable-mixed-precision-accumulation" => "unless a sum is narrow".to_owned(),
        "--disable-mixed-precision-accumulation" => "where a sum is narrow".to_owned(),
        _ => flag.pinned.as_deref().map(code).unwrap_or_default(),
    };
    let summary = flag.summary.clone() + &taken_by(flag);
    row(&[&names.join(", "), &values.join(", "), &defaults.join(", "), &written, &summary])
}

/// The targets and versions that take a flag, where that is not all and always.
fn taken_by(flag: &CompilerFlag) -> String {
    let neuron = halite_neuron::Generation::ALL.len();
    let targets: Vec<&str> = flag.targets.iter().map(|target| target.name()).collect();
    let targets = if targets.len() < neuron { format!(" {}", targets.join(", ")) } else { String::new() };
    let all = targets + &versions(&flag.compiler);
    if all.is_empty() { all } else { format!(" ({})", all.trim_start()) }
}

fn versions(range: &VersionRange) -> String {
    let since = range.since.as_ref().map(|version| format!(" since {version}")).unwrap_or_default();
    let until = range.until.as_ref().map(|version| format!(" before {version}")).unwrap_or_default();
    since + &until
}

fn variable_row(variable: &Variable) -> String {
    let setter = match variable.set_by {
        Setter::Recipe => "the recipe",
        Setter::Halite => "Halite",
        Setter::Launcher => "the launcher",
        Setter::Nobody => "nobody",
    };
    let text = |value: &Option<String>| value.as_deref().map(code).unwrap_or_default();
    let written = match variable.set_by {
        Setter::Halite => "what the recipe says".to_owned(),
        _ => match &variable.ordered {
            Some(value) => format!("{} with `neuron.emit.tokens`", code(value)),
            None => text(&variable.pinned),
        },
    };
    row(&[&code(&variable.name), setter, &text(&variable.default), &written, &variable.meaning])
}

fn replaced_row(variable: &Variable) -> String {
    let instead = variable.instead.as_deref().unwrap_or_default();
    row(&[&code(&variable.name), instead, if variable.forbidden { "yes" } else { "" }])
}
