//! The bytes of compiled programs, and their structure, pinned by their SHA-256: a change that is meant to move code or to mend
//! something else shows here that it changed no program, and one that writes instructions in another order that it changed
//! nothing else.
//!
//! `tests/data/hlo-sha256.txt` has a line for each module: bytes, structure, name. By itself the test holds the small ones to it;
//! `HALITE_HASHES=all` holds all of them, which takes a release build; `HALITE_BLESS=1` beside it writes the file anew.

use halite::Session;
use halite::compile::CompileOptions;
use halite_support::codes;
use halite_tests::structure::structure;
use std::fmt::Write;
use std::path::Path;

/// A program as users ask for it.
struct Input {
    /// The name in the list.
    name: String,
    /// The input that is compiled: a preset, a definition, a path.
    input: String,
    settings: Vec<String>,
    /// Whether it compiles in a moment.
    small: bool,
}

/// Targets, CPU XLA with calls written in place too.
const TARGETS: [&[&str]; 4] =
    [&["target=cpu"], &["target=cpu", "emit.calls=inline"], &["target=trn1"], &["target=trn2"]];
const PRECISIONS: [&str; 3] = ["fp32", "mixed", "bf16-sr"];

/// All programs: presets and GPT-2 under each precision, what has one of its own as it is, and the models of Hugging Face's
/// fixtures, each for each target.
fn inputs() -> Vec<Input> {
    let mut all = Vec::new();
    for target in TARGETS {
        let mut add = |name: &str, input: &str, settings: &[&str], small: bool| {
            let settings = settings.iter().chain(target).map(|setting| (*setting).to_owned()).collect::<Vec<_>>();
            let name = format!("{name} {}", settings.join(" "));
            all.push(Input { name, input: input.to_owned(), settings, small });
        };
        for precision in PRECISIONS {
            let precision = format!("precision={precision}");
            for (preset, small) in [("tiny", true), ("llama-7b", false)] {
                add(preset, preset, &[&precision], small);
            }
            add("hlat-70b", "hlat-70b", &[&precision, "parallel.data=4", "parallel.pipeline=1"], false);
            let gpt2 = format!("{}/../models/gpt2.hal", env!("CARGO_MANIFEST_DIR"));
            add("gpt2", &gpt2, &[&precision, "batch=2", "seq=64"], false);
        }
        add("hlat-7b-paper", "hlat-7b-paper", &[], false);
        for fixture in fixtures() {
            let path = format!("{}/hugging_face/fixtures/{fixture}/config.json", env!("CARGO_MANIFEST_DIR"));
            add(&fixture, &path, &["batch=2", "seq=16"], true);
        }
    }
    all
}

/// The folders of the models that were made with Transformers.
fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hugging_face/fixtures");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| entry.expect("it can be read").file_name().into_string().expect("it is text"));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A line for each module of a program.
fn hashes(input: &Input) -> String {
    let mut session = Session::new();
    let source = session.load(&input.input, &input.settings);
    let source = source.unwrap_or_else(|errors| panic!("{}: {errors:?}", input.name));
    let compiled = session.compile(&source, &CompileOptions::default());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{}: {errors:?}", input.name));
    let unsettled = compiled.warnings.iter().find(|warning| warning.code() == codes::UNSETTLED);
    assert_eq!(unsettled, None, "{}: the bound decides what is compiled", input.name);
    compiled.bundle.manifest.modules.iter().fold(String::new(), |mut lines, module| {
        let hlo = compiled.bundle.files[&module.file].as_slice();
        let hlo = halite_hlo::decode(hlo).unwrap_or_else(|error| panic!("{}: {error}", input.name));
        let _ = writeln!(lines, "{} {}  {} {}", module.sha256, structure(&hlo), input.name, module.name);
        lines
    })
}

#[test]
fn programs_are_byte_for_byte_what_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hlo-sha256.txt");
    let all = std::env::var("HALITE_HASHES").is_ok_and(|which| which == "all");
    let asked: Vec<Input> = inputs().into_iter().filter(|input| all || input.small).collect();
    let found: String = asked.iter().map(hashes).collect();
    if std::env::var_os("HALITE_BLESS").is_some() && all {
        std::fs::write(&path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let pinned = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let of_asked = |line: &&str| asked.iter().any(|input| line[131..].starts_with(&format!("{} ", input.name)));
    let pinned: Vec<&str> = pinned.lines().filter(of_asked).collect();
    let found: Vec<&str> = found.lines().collect();
    let changed: Vec<&&str> = found.iter().filter(|line| !pinned.contains(line)).collect();
    assert!(changed.is_empty() && pinned.len() == found.len(), "programs changed: {changed:#?}");
}
