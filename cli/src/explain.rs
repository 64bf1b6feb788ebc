//! The output of `--explain`: the decisions of passes. Equal ones of different layers, modules and kernels are merged.

use halite_ir::paths::family;
use halite_passes::Remark;
use halite_support::Name;
use indexmap::{IndexMap, IndexSet};
use serde_json::json;

/// The places where a decision was made, and the number of times.
#[derive(Default)]
struct Made<'a> {
    modules: IndexSet<&'a str>,
    rules: IndexSet<String>,
    scopes: IndexSet<String>,
    times: usize,
}

/// One entry for each different decision, in the order of the passes. Rules that are not taken for one reason are one.
pub(super) fn explanation(remarks: &[(Name, Vec<Remark>)]) -> String {
    let mut decisions: IndexMap<(String, Option<String>, String), Made<'_>> = IndexMap::new();
    for (module, Remark { pass, rule, taken, message, scopes, .. }) in each(remarks) {
        let key = (pass.to_string(), taken.then(|| rule.to_string()), family(message));
        let made = decisions.entry(key).or_default();
        made.modules.insert(module);
        made.rules.insert(rule.to_string());
        made.scopes.extend(scopes.iter().filter(|scope| !scope.is_empty()).map(|scope| family(scope)));
        made.times += scopes.len().max(1);
    }
    if decisions.is_empty() {
        return "nothing to explain: no pass made a choice\n".to_owned();
    }
    let mut sections: IndexMap<String, String> = IndexMap::new();
    for ((pass, taken, message), made) in decisions {
        let verdict = if taken.is_some() { "taken" } else { "not taken" };
        let place = if made.scopes.is_empty() { String::new() } else { format!(" in {}", listed(&made.scopes)) };
        let times = if made.times > 1 { format!(", {} times", made.times) } else { String::new() };
        let section = sections.entry(made.modules.iter().copied().collect::<Vec<_>>().join(", ")).or_default();
        section.push_str(&format!("  {pass}, {}: {verdict}{place}{times}\n    {message}\n", listed(&made.rules)));
    }
    sections.iter().map(|(modules, text)| format!("{modules}\n{text}")).collect()
}

fn listed(words: &IndexSet<String>) -> String {
    words.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Every decision as an object.
pub(super) fn json(remarks: &[(Name, Vec<Remark>)]) -> serde_json::Value {
    let objects = |(module, remark): (&str, &Remark)| {
        let Remark { pass, rule, taken, message, scopes, .. } = remark;
        let object = |scope: &str| json!({"module": module, "pass": &**pass, "rule": rule, "taken": taken, "scope": scope, "message": message});
        match scopes.is_empty() {
            true => vec![object("")],
            false => scopes.iter().map(|scope| object(scope)).collect(),
        }
    };
    each(remarks).flat_map(objects).collect()
}

fn each(remarks: &[(Name, Vec<Remark>)]) -> impl Iterator<Item = (&str, &Remark)> {
    remarks.iter().flat_map(|(module, remarks)| remarks.iter().map(move |remark| (&**module, remark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reason_is_given_once() {
        let remark = |rule: &str, scope: &str| {
            let mut remark = Remark::missed("dispatch-dialect", rule.to_owned(), "the target is `cpu`");
            remark.scopes = vec![scope.to_owned()];
            remark
        };
        let all = || {
            vec![
                remark("neuron.rms_norm", "layers.0"),
                remark("neuron.rms_norm", "layers.1"),
                remark("neuron.silu", "norm"),
            ]
        };
        let remarks = [("train_step".into(), all()), ("forward".into(), all())];
        let expected = "train_step, forward
  dispatch-dialect, neuron.rms_norm, neuron.silu: not taken in layers.*, norm, 6 times
    the target is `cpu`
";
        assert_eq!(explanation(&remarks), expected);
        assert_eq!(json(&remarks).as_array().map(Vec::len), Some(6));
    }
}
