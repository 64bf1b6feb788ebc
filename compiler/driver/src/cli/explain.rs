//! What `--explain` shows: the decisions of passes, equal ones of different layers as one.

use super::table::table;
use halite_passes::{Remark, family};
use indexmap::IndexMap;
use serde_json::json;

/// One line for each different decision, in the order of the passes.
pub(super) fn explanation(remarks: &[(&'static str, Vec<Remark>)]) -> String {
    let mut rows: IndexMap<Vec<String>, usize> = IndexMap::new();
    for (module, remark) in each(remarks) {
        let Remark { pass, rule, taken, message, scope, .. } = remark;
        let verdict = if *taken { "taken" } else { "not taken" };
        let cells = [module, pass, rule, verdict].map(str::to_owned);
        let row = cells.into_iter().chain([family(scope), family(message)]).collect();
        *rows.entry(row).or_default() += 1;
    }
    if rows.is_empty() {
        return "nothing to explain: no pass made a choice\n".to_owned();
    }
    let head = ["module", "pass", "rule", "", "where", "why", "times"].map(str::to_owned).to_vec();
    let body = rows.into_iter().map(|(row, times)| row.into_iter().chain([times.to_string()]).collect());
    table(&std::iter::once(head).chain(body).collect::<Vec<_>>())
}

/// Every decision as an object.
pub(super) fn json(remarks: &[(&'static str, Vec<Remark>)]) -> serde_json::Value {
    let object = |(module, remark): (&'static str, &Remark)| {
        let Remark { pass, rule, taken, message, scope, .. } = remark;
        json!({"module": module, "pass": pass, "rule": rule, "taken": taken, "scope": scope, "message": message})
    };
    each(remarks).map(object).collect()
}

fn each<'a>(remarks: &'a [(&'static str, Vec<Remark>)]) -> impl Iterator<Item = (&'static str, &'a Remark)> {
    remarks.iter().flat_map(|(module, remarks)| remarks.iter().map(move |remark| (*module, remark)))
}
