//! Figures in running text and in tables.

use super::documents;
use super::read::text;
use serde_json::Value;
use std::process::Command;

/// The JSON that `halite --json` prints.
fn halite(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_halite"));
    let output = program.arg("--json").args(arguments).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A count with a comma between each three digits.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// The words that follow the number of rules in every document.
const RULES: &str = " rules, each with its source";

#[test]
fn documents_count_the_rules() {
    let rules = halite(&["hlo", "check", "--rules", "--target", "trn1"])["rules"].as_array().unwrap().len().to_string();
    let mut told = 0;
    for document in documents() {
        let text = text(&document);
        for (at, _) in text.match_indices(RULES) {
            let number = text[..at].split_whitespace().next_back().unwrap_or_default();
            assert_eq!(number, rules, "{document} tells another number of rules");
            told += 1;
        }
    }
    assert!(told > 0);
}

/// The configurations that are compared with JAX, as `benches/peer/configs.py` has them: a name, a preset, settings.
const CONFIGS: [(&str, &str, &[&str]); 5] = [
    ("tiny", "tiny", &[]),
    (
        "mid",
        "tiny",
        &["layers=4", "hidden=256", "heads=8", "kv_heads=4", "ffn=704", "vocab=2048", "seq=256", "batch=2"],
    ),
    (
        "slice",
        "tiny",
        &["layers=4", "hidden=1024", "heads=16", "kv_heads=16", "ffn=2816", "vocab=32000", "seq=512", "batch=2"],
    ),
    ("llama-7b", "llama-7b", &[]),
    ("llama-70b", "llama-7b", &["layers=80", "hidden=8192", "heads=64", "kv_heads=8", "ffn=28672"]),
];

/// The instructions of a training step.
fn instructions(preset: &str, settings: &[&str], precision: &str) -> u64 {
    let precision = format!("precision={precision}");
    let settings = settings.iter().copied().chain([precision.as_str()]).flat_map(|setting| ["--set", setting]);
    let arguments: Vec<&str> = ["compile", preset, "-o", "bundle"].into_iter().chain(settings).collect();
    halite(&arguments)["statistics"]["hlo_instructions"].as_u64().unwrap()
}

/// The row of instructions in the table of a precision holds what is compiled; the second number of each cell is JAX's, and
/// comes from `benches/peer/peer.py`.
fn holds_the_instructions(precision: &str) {
    let text = text("docs/guide/beside-jax.md");
    let table = text.split(&format!("| `{precision}` |")).nth(1).expect("the table is there");
    let row = table.lines().find(|line| line.starts_with("| HLO instructions")).expect("the row is there");
    let cells = row.trim_matches('|').split('|').skip(1);
    let shown: Vec<&str> = cells.filter_map(|cell| cell.split('/').next()).map(str::trim).collect();
    let counted: Vec<String> =
        CONFIGS.iter().map(|(_, preset, settings)| grouped(instructions(preset, settings, precision))).collect();
    assert_eq!(shown, counted, "{precision}");
}

#[test]
fn the_book_counts_the_instructions_of_mixed_steps() {
    holds_the_instructions("mixed");
}

#[test]
fn the_book_counts_the_instructions_of_f32_steps() {
    holds_the_instructions("fp32");
}

/// The configurations here are those that JAX's side measures.
#[test]
fn the_configurations_are_those_of_the_peer() {
    let configs = text("benches/peer/configs.py");
    for (name, preset, settings) in CONFIGS {
        let entry = configs.split(&format!("\"{name}\": Config(")).nth(1).expect("the configuration is there");
        let entry = entry.split("),\n").next().unwrap_or_default();
        let named = settings.iter().chain([&preset]).all(|part| entry.contains(&format!("\"{part}\"")));
        assert!(named, "{name}: {entry}");
    }
}
