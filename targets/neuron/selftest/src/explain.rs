//! The source of each fact, the checks that confirm or refute it, and its consequences in Halite.

use crate::check::{Check, Told};
use crate::checks::CHECKS;
use crate::fact::facts;
use halite_neuron::Generation;
use serde::Serialize;

/// A fact with its checks and consequences.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Explained {
    /// The table and the row.
    pub key: String,
    /// The presumption.
    pub presumed: String,
    /// The source and how reliable it is.
    pub source: String,
    /// The checks that confirm or refute it; empty where none does.
    pub checks: Vec<&'static str>,
    /// The change in Halite if it holds.
    pub confirmed: Option<String>,
    /// The change in Halite if it does not.
    pub refuted: Option<String>,
}

/// Every fact of a target that a device may confirm or refute. Those without a check come last.
pub fn explain(target: Generation) -> Vec<Explained> {
    let told: Vec<(&'static str, Told)> = CHECKS.iter().flat_map(|check| of(*check)).collect();
    let known = facts(target);
    let mut all: Vec<Explained> =
        known.iter().map(|fact| one(&fact.key, &fact.says, &fact.provenance.cite(), &told)).collect();
    for (_, fact) in &told {
        if !all.iter().any(|explained| explained.key == fact.fact) && !is_of_another_target(&fact.fact) {
            all.push(one(
                &fact.fact,
                &fact.presumed,
                "stated in the table or in docs/neuron; no device was asked",
                &told,
            ));
        }
    }
    all.sort_by_key(|explained| explained.checks.is_empty());
    all
}

fn of(check: &'static dyn Check) -> Vec<(&'static str, Told)> {
    check.told().into_iter().map(|told| (check.name(), told)).collect()
}

/// Rows of tables that a target does not have are not among its facts.
fn is_of_another_target(key: &str) -> bool {
    key.starts_with("hardware/")
}

fn one(key: &str, says: &str, source: &str, told: &[(&'static str, Told)]) -> Explained {
    let own: Vec<_> = told.iter().filter(|(_, told)| told.fact == key).collect();
    let first = own.first().map(|(_, told)| told);
    let mut checks: Vec<&'static str> = own.iter().map(|(check, _)| *check).collect();
    checks.dedup();
    Explained {
        key: key.to_owned(),
        presumed: first.map_or_else(|| says.to_owned(), |told| told.presumed.clone()),
        source: source.to_owned(),
        checks,
        confirmed: first.map(|told| told.confirmed.clone()),
        refuted: first.map(|told| told.refuted.clone()),
    }
}
