//! The crates that each crate may use.

use crate::repo::{production, root};
use std::collections::BTreeMap;
use std::process::Command;

/// For each crate, what it may use of ours. The program, tests and benches may use everything.
const TABLE: &[(&str, &[&str])] = &[
    ("halite-support", &[]),
    ("halite-report", &["support"]),
    ("halite-disk", &["support"]),
    ("halite-tensor", &["support"]),
    ("halite-data", &["support", "disk", "tensor"]),
    ("halite-schedule", &[]),
    ("halite-recipe", &["support", "tensor", "schedule"]),
    ("halite-hlo", &["support", "tensor"]),
    ("halite-stablehlo", &["support", "tensor", "hlo"]),
    ("halite-ir", &["support", "tensor", "hlo"]),
    ("halite-analysis", &["support", "tensor", "ir"]),
    ("halite-lift", &["support", "tensor", "hlo", "ir"]),
    ("halite-lang", &["support", "tensor", "recipe", "ir"]),
    ("halite-import", &["support", "tensor", "hlo", "ir", "lift", "lang"]),
    ("halite-models", &[]),
    ("halite-bundle", &["support", "tensor", "recipe", "hlo", "disk", "models"]),
    ("halite-optim", &["support", "tensor", "recipe", "ir"]),
    ("halite-passes", &["support", "tensor", "recipe", "ir", "analysis", "optim"]),
    ("halite-estimate", &["support", "tensor", "recipe", "hlo", "ir", "bundle"]),
    ("halite-target", &["support", "recipe", "hlo", "ir", "bundle", "passes", "optim", "estimate"]),
    ("halite-cpu", &["support", "recipe", "hlo", "ir", "bundle", "target"]),
    ("halite-neuron", &["support", "tensor", "recipe", "hlo", "ir", "disk", "bundle", "passes", "target"]),
    ("halite-targets", &["target", "cpu", "neuron"]),
    ("halite-runtime", &["support", "tensor", "disk"]),
    ("halite-xla-rs", &["tensor", "runtime"]),
    (
        "halite",
        &[
            "support",
            "tensor",
            "recipe",
            "hlo",
            "ir",
            "lang",
            "import",
            "models",
            "bundle",
            "data",
            "analysis",
            "optim",
            "passes",
            "schedule",
            "target",
            "targets",
            "stablehlo",
        ],
    ),
    (
        "halite-verify",
        &["support", "tensor", "recipe", "ir", "bundle", "passes", "runtime", "stablehlo", "train", "driver"],
    ),
    ("halite-plan", &["support", "recipe", "hlo", "passes", "bundle", "estimate", "target", "driver"]),
    ("halite-reference", &["support", "tensor", "recipe", "hlo", "ir", "lang", "models", "passes", "driver"]),
    (
        "halite-selftest",
        &[
            "support",
            "tensor",
            "recipe",
            "hlo",
            "ir",
            "bundle",
            "passes",
            "target",
            "neuron",
            "runtime",
            "disk",
            "stablehlo",
            "driver",
        ],
    ),
    (
        "halite-test-kit",
        &["support", "tensor", "recipe", "hlo", "stablehlo", "ir", "analysis", "bundle", "passes", "runtime", "driver"],
    ),
    (
        "halite-python",
        &["tensor", "neuron", "page", "report", "runtime", "stablehlo", "data", "train", "verify", "driver"],
    ),
    ("halite-page", &["support", "tensor", "schedule", "recipe", "ir", "bundle", "target", "train"]),
    ("halite-train", &["support", "tensor", "recipe", "hlo", "stablehlo", "disk", "bundle", "runtime", "data"]),
];

/// The program, which uses everything, and crates that nothing ships.
const FREE: [&str; 5] = ["halite-cli", "halite-tests", "halite-standin-nrt", "halite-benches", "halite-fuzz"];

/// The crates of the workspace with what they need of ours when they are built.
fn edges() -> BTreeMap<String, Vec<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(["metadata", "--format-version=1", "--no-deps", "--offline"]).current_dir(root()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter().map(|package| {
        let needed = package["dependencies"].as_array().unwrap().iter();
        let needed = needed.filter(|needed| needed["kind"] != "dev").map(|needed| text(&needed["name"]));
        (text(&package["name"]), needed.filter(|name| name.starts_with("halite")).collect())
    });
    packages.collect()
}

#[test]
fn crates_use_what_the_table_allows() {
    let mut wrong = Vec::new();
    for (name, needed) in edges() {
        if FREE.contains(&name.as_str()) {
            continue;
        }
        match TABLE.iter().find(|(own, _)| *own == name) {
            None => wrong.push(format!("`{name}` is not in the table")),
            Some((_, allowed)) => {
                // What is in `driver` is called after the whole.
                let is = |needed: &str, short: &str| match short {
                    "driver" => needed == "halite",
                    short => needed == format!("halite-{short}"),
                };
                let allowed = |needed: &&String| allowed.iter().any(|short| is(needed, short));
                wrong.extend(
                    needed.iter().filter(|needed| !allowed(needed)).map(|needed| format!("`{name}` uses `{needed}`")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Files that may name Neuron although every target uses them, each for a reason.
const NAMES_NEURON: [(&str, &str); 1] =
    [("compiler/support/src/codes.rs", "codes of diagnostics are numbered and explained in one table")];

#[test]
fn what_all_targets_share_names_none() {
    let is_let = |path: &str| NAMES_NEURON.iter().any(|(own, _)| *own == path);
    let names = |code: &str| {
        let code = code.to_lowercase();
        ["neuron", "trn1", "trn2", "trn3", "inf2"].iter().any(|word| code.contains(word))
    };
    let shared = production(&["compiler", "driver", "optim", "passes", "verify"]);
    let found = shared.filter(|(path, code)| !is_let(path) && names(code)).map(|(path, _)| path);
    assert_eq!(found.collect::<Vec<_>>(), [""; 0]);
}
