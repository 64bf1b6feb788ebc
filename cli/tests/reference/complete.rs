//! Everything that can be called, set or met has an entry on a page: what there is, the registries say; what is documented, the pages.

use super::{entries, read, reference};
use halite::Session;
use halite_ir::Op;
use halite_recipe::schema::{Key, Kind as Takes};
use halite_reference::Kind;
use halite_support::codes;
use std::collections::BTreeSet;

/// The names that a page describes.
fn described(kind: Kind) -> BTreeSet<String> {
    let page = read(&format!("reference/{}.md", kind.page()));
    page.lines().filter_map(|line| Some(line.strip_prefix("## `")?.strip_suffix('`')?.to_owned())).collect()
}

/// Holds a page to what there is.
fn check(kind: Kind, there: impl IntoIterator<Item = String>) {
    let (described, there) = (described(kind), there.into_iter().collect::<BTreeSet<_>>());
    let missing: Vec<&String> = there.difference(&described).collect();
    let gone: Vec<&String> = described.difference(&there).collect();
    assert!(missing.is_empty() && gone.is_empty(), "{} lacks {missing:?}, has too much {gone:?}", kind.page());
    assert!(!there.is_empty());
}

#[test]
fn every_builtin_is_described() {
    check(Kind::Builtin, halite_lang::reference::builtins().map(|builtin| builtin.name.to_owned()));
}

/// Every function of a library has a description, from the comment above it.
#[test]
fn every_function_of_a_library_is_described() {
    let functions = halite_models::libraries().iter().flat_map(|(_, text)| halite_lang::reference::function_docs(text));
    let functions: Vec<_> = functions.collect();
    assert!(functions.iter().all(|function| function.about.len() > 10), "{functions:?}");
    let fns: usize = halite_models::libraries().iter().map(|(_, text)| text.matches("\n  fn ").count()).sum();
    assert_eq!(functions.len(), fns);
    check(Kind::Block, functions.iter().map(|function| function.name.to_owned()));
}

#[test]
fn every_op_and_composite_is_described() {
    check(Kind::Op, Op::primitives().iter().map(|op| op.name().to_owned()));
    check(Kind::Composite, Session::new().registry.composites().map(|def| def.name().to_owned()));
}

#[test]
fn every_pass_is_described() {
    check(Kind::Pass, Session::new().passes.iter().map(|pass| pass.info().name.to_string()));
}

#[test]
fn every_diagnostic_is_described() {
    check(Kind::Diagnostic, codes::ALL.iter().map(|code| code.id.to_owned()));
}

#[test]
fn every_command_is_described() {
    fn add(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for inner in command.get_subcommands() {
            let name = format!("{path} {}", inner.get_name()).trim().to_owned();
            all.push(name.clone());
            add(inner, &name, all);
        }
    }
    let mut all = vec!["halite".to_owned()];
    add(&halite_cli::command(&Session::new()), "", &mut all);
    check(Kind::Command, all);
}

#[test]
fn every_recipe_key_is_described() {
    let session = Session::new();
    let rules: Vec<&str> = session.vocabulary.rules.sections().iter().map(|rule| rule.name).collect();
    let mut all = BTreeSet::new();
    paths(&halite_recipe::keys(&session.vocabulary, None), "", &mut all);
    let page = described(Kind::Recipe);
    // What all rules have is described once; settings of a rule in a group are those that it has elsewhere.
    let is_described = |path: &String| {
        let mut ways = vec![path.clone(), path.replacen("optimizer.group.", "optimizer.", 1)];
        for rule in &rules {
            ways.push(path.replacen(&format!("optimizer.{rule}."), "optimizer.<rule>.", 1));
        }
        ways.iter().any(|way| page.contains(way))
    };
    let missing: Vec<&String> = all.iter().filter(|path| !is_described(path)).collect();
    assert!(missing.is_empty(), "the page on recipes lacks {missing:?}");
    let shared = |name: &String| rules.iter().any(|rule| all.contains(&name.replace("<rule>", rule)));
    let gone: Vec<&String> = page.iter().filter(|name| !all.contains(*name) && !shared(name)).collect();
    assert!(gone.is_empty(), "the page on recipes has too much {gone:?}");
}

/// The paths of keys, and of those of the tables that they take.
fn paths(keys: &[Key], table: &str, all: &mut BTreeSet<String>) {
    for key in keys {
        let path = if table.is_empty() { key.name.to_owned() } else { format!("{table}.{}", key.name) };
        all.insert(path.clone());
        if let Takes::Table(inner)
        | Takes::WordOrTable(_, inner)
        | Takes::WholeOrTable(_, _, inner)
        | Takes::Tables(inner)
        | Takes::WordsOrTables(_, inner) = &key.kind
        {
            paths(inner, &path, all);
        }
    }
}

#[test]
fn every_entry_says_something_and_shows_something() {
    let reference = reference();
    for entry in reference.entries() {
        let label = entry.label();
        assert!(entry.summary.len() > 4 && entry.summary.ends_with(['.', ':']), "{label}: {:?}", entry.summary);
        assert!(entry.body.len() > 10, "{label}");
    }
    for kind in [Kind::Builtin, Kind::Op, Kind::Composite, Kind::Block, Kind::Pass, Kind::Command] {
        for entry in entries(&reference, kind) {
            assert!(entry.body.contains("```") || entry.name == "data", "{} shows nothing", entry.label());
        }
    }
    for entry in entries(&reference, Kind::Diagnostic) {
        let is_shown = entry.body.contains("```") && entry.body.contains(&format!("[{}]", entry.name));
        assert!(is_shown != entry.body.contains("No example: "), "{}", entry.label());
    }
}
