//! Pipelines that nobody would write: passes twice, left out and in another order, on the modules of all goldens. What does not fit is
//! refused with the reason, and never called a fault of ours.

use halite::Session;
use halite::opt::OptOptions;
use halite_recipe::Recipe;
use halite_support::Severity;
use halite_tests::parallel::for_each;
use std::path::{Path, PathBuf};

/// The directive of goldens that says which passes run.
const PASSES: &str = "//@ passes: ";

fn goldens(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            goldens(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ir") {
            found.push(path);
        }
    }
}

/// The names of the passes of a golden, groups aside.
fn passes(text: &str) -> Vec<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix(PASSES)).unwrap_or_default();
    let names = line.split(|c: char| !c.is_ascii_lowercase() && c != '-').filter(|name| !name.is_empty());
    names.collect()
}

/// The same with each pass twice, each left out, and each before every other.
fn edits(names: &[&str]) -> Vec<String> {
    let mut edits = Vec::new();
    for at in 0..names.len() {
        edits.push([&names[..=at], &names[at..]].concat());
        edits.push([&names[..at], &names[at + 1..]].concat());
        for before in 0..at {
            edits.push([&names[..before], &[names[at]], &names[before..at], &names[at + 1..]].concat());
        }
    }
    edits.into_iter().map(|names| names.join(", ")).collect()
}

fn recipe(session: &mut Session, settings: &[&str]) -> Recipe {
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    session.load("tiny", &settings).expect("a preset").recipe
}

#[test]
fn no_order_of_passes_is_a_fault_of_ours() {
    let mut files = Vec::new();
    goldens(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"), &mut files);
    files.sort();
    let tried = for_each(&files, |path| {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let mut tried = 0;
        for passes in edits(&passes(&text)) {
            for settings in [&[][..], &["precision=\"mixed\"", "emit.calls=\"keep\"", "accumulate=2", "batch=4"]] {
                let mut session = Session::new();
                let recipe = Some(recipe(&mut session, settings));
                let source: String = text.split_inclusive('\n').filter(|line| !line.starts_with("//>")).collect();
                let file = session.sources.add("golden.ir", source.as_str());
                let options =
                    OptOptions { passes: passes.parse().expect("names of passes"), recipe, ..OptOptions::default() };
                if let Err(mistakes) = session.optimize(file, &options) {
                    let bug = mistakes.iter().find(|mistake| mistake.severity() == Severity::Bug);
                    assert!(bug.is_none(), "{} with `{passes}`: {bug:?}", path.display());
                }
                tried += 1;
            }
        }
        tried
    });
    assert!(tried.iter().sum::<usize>() > 1000);
}
