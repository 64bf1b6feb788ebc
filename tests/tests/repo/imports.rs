//! Which crate may use which.

use crate::root;
use std::collections::BTreeMap;
use std::process::Command;

/// For each crate, what it may use of ours. Tests and benches may use everything.
const TABLE: &[(&str, &[&str])] = &[
    ("halite-support", &[]),
    ("halite-tensor", &["support"]),
    ("halite-spec", &["support", "tensor"]),
    ("halite-hlo", &["support", "tensor"]),
    ("halite-target", &["spec"]),
    ("halite-neuron", &["support", "tensor", "spec", "hlo", "target"]),
    ("halite-ir", &["support", "tensor", "hlo"]),
    ("halite-lang", &["support", "tensor", "spec", "ir"]),
    ("halite-passes", &["support", "tensor", "spec", "ir", "target"]),
    ("halite-runtime", &["support", "tensor", "spec"]),
    ("halite-models", &[]),
    ("halite", &["support", "tensor", "spec", "hlo", "target", "neuron", "ir", "lang", "passes", "runtime", "models"]),
];

/// Crates that nothing ships.
const FREE: [&str; 3] = ["halite-tests", "halite-benches", "halite-fuzz"];

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
                let allowed = |needed: &&String| allowed.iter().any(|short| **needed == format!("halite-{short}"));
                wrong.extend(
                    needed.iter().filter(|needed| !allowed(needed)).map(|needed| format!("`{name}` uses `{needed}`")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
