//! Golden files that must exist.

use crate::repo::files_below;
use halite_neuron::Tables;
use halite_passes::{PassRegistry, simplify_rules};
use std::collections::BTreeSet;

/// Golden files of a folder below `tests/golden`, joined.
fn goldens(folder: &str) -> Vec<String> {
    files_below(&format!("tests/golden/{folder}"), "ir")
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn every_pass_has_a_golden_with_two_functions() {
    let goldens = goldens("opt");
    let has_golden = |name: &str| {
        goldens.iter().any(|text| {
            let passes = text.lines().find_map(|line| line.strip_prefix("//@ passes:")).unwrap_or_default();
            let functions = text.lines().filter(|line| line.starts_with("func @")).count();
            passes.split(',').any(|pass| pass.trim() == name) && functions >= 2
        })
    };
    let passes = PassRegistry::builtin();
    let missing = passes.iter().map(|pass| pass.info().name).filter(|name| !has_golden(name));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_rule_of_a_target_has_a_golden() {
    let files = files_below("tests/golden/legality", "txt");
    let stems: BTreeSet<_> =
        files.iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let rules: BTreeSet<_> = Tables::builtin().rules.iter().map(|rule| rule.id.clone()).collect();
    assert_eq!(stems, rules);
}

#[test]
fn every_rule_fires_somewhere_and_stays_elsewhere() {
    let text = goldens("opt/simplify").concat();
    let names = simplify_rules().map(|rule| rule.replace('-', "_"));
    let wanted = names.flat_map(|rule| [format!("func @{rule}_fires("), format!("func @{rule}_stays(")]);
    assert_eq!(wanted.filter(|function| !text.contains(function)).collect::<Vec<_>>(), [""; 0]);
}
