use super::*;
use crate::tables::{Level, Setter};
use halite_target::Basis;
use std::collections::BTreeSet;

#[test]
fn every_neuron_target_has_its_rows() {
    let tables = Tables::builtin();
    for target in Generation::ALL {
        assert!(tables.hardware(target).is_some(), "{target}");
        assert!(tables.limits(target).is_some(), "{target}");
        assert!(tables.costs(target).is_some(), "{target}");
        assert!(tables.forms(target).is_some(), "{target}");
        assert!(tables.rules(target, tables.newest()).next().is_some(), "{target}");
    }
}

#[test]
fn versions_are_in_order() {
    let versions = &Tables::builtin().versions;
    assert!(!versions.is_empty() && versions.is_sorted());
}

#[test]
fn names_are_unique() {
    let tables = Tables::builtin();
    let unique = |names: Vec<&str>| assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    unique(tables.rules.iter().map(|rule| rule.id.as_str()).collect());
    unique(tables.kernels.iter().map(|kernel| kernel.name.as_str()).collect());
    unique(tables.flags.iter().map(|flag| flag.name.as_str()).collect());
    unique(tables.errors.iter().map(|error| error.code.as_str()).collect());
    unique(tables.variables.iter().map(|variable| variable.name.as_str()).collect());
}

/// A pinned flag takes its value, a pinned variable is one that a recipe may set, and a variable that a recipe cannot set names the
/// setting to use instead.
#[test]
fn flags_and_variables_go_together() {
    let tables = Tables::builtin();
    for flag in &tables.flags {
        assert!(flag.pinned.as_ref().is_none_or(|value| flag.takes(value)), "{flag:?}");
    }
    for variable in &tables.variables {
        assert!(variable.instead.is_some() || variable.set_by == Setter::Recipe, "{variable:?}");
        assert!(variable.pinned.is_none() || variable.set_by == Setter::Recipe, "{variable:?}");
        assert!(!variable.forbidden || variable.set_by == Setter::Nobody, "{variable:?}");
    }
}

/// Variables that a recipe may set are not also reserved.
#[test]
fn reserved_variables_are_no_other_ones() {
    let tables = Tables::builtin();
    for variable in &tables.variables {
        assert!(tables.reserved(&variable.name).is_none(), "{}", variable.name);
    }
    for name in ["PATH", "LD_PRELOAD", "BASH_ENV", "BASH_FUNC_x%%", "PYTHONPATH", "IFS", "HALITE_NEURONX_CC", "PS4"] {
        assert!(tables.reserved(name).is_some(), "{name}");
    }
    assert!(tables.reserved("MY_OWN").is_none() && tables.reserved("PATHS").is_none());
}

/// Rules that are only our conclusion can be allowed by a user who knows better.
#[test]
fn inferred_errors_can_be_allowed() {
    let tables = Tables::builtin();
    let inferred = |rule: &&Rule| rule.level == Level::Error && rule.provenance.basis == Basis::Inferred;
    for rule in tables.rules.iter().filter(inferred).chain(tables.rule("group-size")) {
        assert!(rule.waivable, "{}", rule.id);
    }
}

#[test]
fn every_fact_has_a_source_and_a_month() {
    let tables = Tables::builtin();
    let sources = (tables.hardware.iter().map(|row| &row.provenance))
        .chain(tables.elements.iter().map(|row| &row.provenance))
        .chain(tables.limits.iter().map(|row| &row.provenance))
        .chain(tables.costs.iter().map(|row| &row.provenance))
        .chain(tables.rules.iter().map(|row| &row.provenance))
        .chain(tables.opcodes.iter().map(|row| &row.provenance))
        .chain(tables.kernels.iter().map(|row| &row.provenance))
        .chain(tables.flags.iter().map(|row| &row.provenance))
        .chain(tables.errors.iter().map(|row| &row.provenance))
        .chain(tables.variables.iter().map(|row| &row.provenance))
        .chain(tables.reserved.iter().map(|row| &row.provenance))
        .chain(tables.forms.iter().map(|row| &row.provenance));
    for provenance in sources {
        let month = provenance.read.split_once('-').filter(|(year, month)| year.len() == 4 && month.len() == 2);
        assert!(month.is_some() && !provenance.source.trim().is_empty(), "{provenance:?}");
    }
}
