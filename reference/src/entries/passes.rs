//! The passes of a session, each with a program before and after it.

use super::golden::{Golden, function};
use crate::entry::{Entry, Kind};
use crate::markdown::fenced;
use halite::Session;
use halite_passes::{Kind as Need, PassInfo, Relation};

pub(crate) fn entries(session: &Session) -> Vec<Entry> {
    session.passes.iter().map(|pass| entry(&pass.info())).collect()
}

fn entry(info: &PassInfo) -> Entry {
    let mut body = format!("{}\n", sentence(&info.summary));
    let need = match info.kind {
        Need::Required => "later passes depend on it",
        Need::Optimization => "a pipeline can do without it",
    };
    let gives = info.gives.map_or_else(|| "leaves it there".to_owned(), |phase| format!("gives `{phase}`"));
    let needs = match (info.needs.start(), info.needs.end()) {
        (first, last) if first == last => format!("takes a module in phase `{first}`"),
        (first, last) => format!("takes a module in phases `{first}` to `{last}`"),
    };
    body.push_str(&format!("\n- {needs}, {gives}\n- results: {}\n- {need}\n", relation(info.relation)));
    if let Some(example) = info.example
        && let Some(golden) = function(example.text, example.function)
    {
        body.push_str(&shown(&golden, example.file));
    }
    Entry::new(Kind::Pass, &*info.name, sentence(&info.summary), body)
}

/// A summary as a sentence.
fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn relation(relation: Relation) -> String {
    match relation {
        Relation::Identical => "bit for bit those before".to_owned(),
        Relation::Ulp(units) => format!("those before within {units} units of roundoff"),
        Relation::Extends => "those before bit for bit, then new ones".to_owned(),
        Relation::WithinRecipe => "those before up to what the precision recipe asks for".to_owned(),
        Relation::Mapped(units) => format!("those before within {units} units of roundoff, stored as packings say"),
        Relation::Defines => "new ones, which the pass defines".to_owned(),
    }
}

fn shown(golden: &Golden, file: &str) -> String {
    let recipe = match golden.recipe.as_slice() {
        [] => String::new(),
        lines => format!("\nWith the recipe:\n\n{}\n", fenced("toml", &lines.join("\n"))),
    };
    let before = fenced("text", &golden.before);
    let said: Vec<String> = golden.said.iter().map(|said| format!("- {said}")).collect();
    let after = match (golden.after.is_empty(), said.is_empty()) {
        (false, true) => {
            format!("\nAfter `{}`:\n\n{}\n", golden.passes, fenced("text", &beginning(&golden.after, file)))
        }
        (_, false) => format!("\n`{}` says:\n\n{}\n", golden.passes, said.join("\n")),
        (true, true) => String::new(),
    };
    format!("{recipe}\nBefore:\n\n{before}\n{after}")
}

/// The most lines that are shown of what comes out.
const LINES: usize = 60;

/// A program, or its beginning where it is long.
fn beginning(program: &str, file: &str) -> String {
    let count = program.lines().count();
    if count <= LINES {
        return program.to_owned();
    }
    let shown: Vec<&str> = program.lines().take(LINES).collect();
    format!("{}\n// and {} lines more, in tests/golden/opt/{file}.ir", shown.join("\n"), count - LINES)
}
