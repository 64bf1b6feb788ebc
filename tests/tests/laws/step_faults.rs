//! Faults seeded into the passes that make the step: for each a law fails that holds without it.
//!
//! A fault is an edit of the text that its pass leaves. To add one, print that text by `halite opt`, and add an entry.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

use halite::Session;
use halite_ir::text::{PrintOptions, parse, print_with};
use halite_ir::{Module, verify};
use halite_passes::{Runner, RunnerOptions};
use halite_support::FileId;
use halite_test_kit::{Directives, Oracle};
use halite_tests::defined::StepModels;

mod order;
mod texts;

/// A module, and the passes up to the one that faults are put into.
struct Place {
    module: &'static str,
    recipe: &'static [&'static str],
    passes: &'static [&'static str],
}

/// A wrong edit of what the last pass of a place leaves.
struct Fault {
    name: &'static str,
    place: &'static Place,
    /// Stands there once.
    find: &'static str,
    put: &'static str,
    /// The result by which the law fails.
    shows: &'static str,
}

/// The modules before and after the last pass of a place, and the recipe.
fn run(session: &Session, place: &Place) -> (Module, Module, halite_recipe::Recipe) {
    let lines = place.recipe.iter().map(|&line| line.to_owned()).collect();
    let recipe = Directives { recipe: lines, ..Directives::default() }.recipe().unwrap().unwrap();
    let cx = session.pass_cx(Some(&recipe), None).unwrap();
    let mut after = read(session, place.module).unwrap();
    let mut before = after.clone();
    for pass in place.passes {
        before = after.clone();
        let pipeline = session.passes.parse(pass).unwrap();
        Runner::new(RunnerOptions::default()).run(&pipeline, &mut after, &cx).unwrap();
    }
    (before, after, recipe)
}

fn read(session: &Session, text: &str) -> Result<Module, String> {
    let module =
        parse(text, FileId::of("fault.ir", text), &session.registry).map_err(|errors| format!("{errors:?}"))?;
    verify(&module, &session.registry).map_err(|errors| format!("{}", errors.into_bug("in a fault")))?;
    Ok(module)
}

/// Why a fault shows nothing, if it does not.
fn missed(session: &Session, fault: &Fault) -> Option<String> {
    let (before, after, recipe) = run(session, fault.place);
    let pass = fault.place.passes.last().unwrap();
    let law = |module: &Module| StepModels.check(pass, &before, module, &recipe, session).unwrap();
    if let Err(error) = law(&after) {
        return Some(format!("the law fails without it: {error}"));
    }
    let text = print_with(&after, PrintOptions { locations: false });
    if text.matches(fault.find).count() != 1 {
        return Some(format!("`{}` does not stand once in\n{text}", fault.find));
    }
    match read(session, &text.replace(fault.find, fault.put)) {
        Err(error) => Some(format!("no module: {error}")),
        Ok(faulty) => match law(&faulty) {
            Ok(()) => Some(format!("the law of `{pass}` holds with it")),
            Err(error) => (!error.contains(&format!("`{}`", fault.shows))).then(|| format!("it shows in {error}")),
        },
    }
}

#[test]
fn each_fault_fails_a_law() {
    let session = Session::new();
    let missed: Vec<String> = texts::FAULTS
        .iter()
        .filter_map(|fault| Some(format!("{}: {}", fault.name, missed(&session, fault)?)))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    // As docs/internals/tests.md says.
    assert_eq!((texts::FAULTS.len(), order::FAULTS.len()), (45, 4));
}
