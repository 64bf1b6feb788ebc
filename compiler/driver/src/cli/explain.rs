//! What `--explain` shows: the decisions of passes, equal ones of different layers as one.

use halite_passes::{Remark, family};
use indexmap::IndexMap;
use serde_json::json;

/// One entry for each different decision, in the order of the passes.
pub(super) fn explanation(remarks: &[(&'static str, Vec<Remark>)]) -> String {
    let mut times: IndexMap<(&str, String, String), usize> = IndexMap::new();
    for (module, remark) in each(remarks) {
        let Remark { pass, rule, taken, message, scope, .. } = remark;
        let verdict = if *taken { "taken" } else { "not taken" };
        let place = if scope.is_empty() { String::new() } else { format!(" in {}", family(scope)) };
        let headline = format!("{pass}, {rule}: {verdict}{place}");
        *times.entry((module, headline, family(message))).or_default() += 1;
    }
    if times.is_empty() {
        return "nothing to explain: no pass made a choice\n".to_owned();
    }
    let mut text = String::new();
    let mut last = "";
    for ((module, headline, message), count) in times {
        if module != last {
            text.push_str(&format!("{module}\n"));
            last = module;
        }
        let count = if count > 1 { format!(", {count} times") } else { String::new() };
        text.push_str(&format!("  {headline}{count}\n    {message}\n"));
    }
    text
}

/// Every decision as an object.
pub(super) fn json(remarks: &[(&'static str, Vec<Remark>)]) -> serde_json::Value {
    let object = |(module, remark): (&'static str, &Remark)| {
        let Remark { pass, rule, taken, message, scope, .. } = remark;
        json!({"module": module, "pass": &**pass, "rule": rule, "taken": taken, "scope": scope, "message": message})
    };
    each(remarks).map(object).collect()
}

fn each<'a>(remarks: &'a [(&'static str, Vec<Remark>)]) -> impl Iterator<Item = (&'static str, &'a Remark)> {
    remarks.iter().flat_map(|(module, remarks)| remarks.iter().map(move |remark| (*module, remark)))
}
