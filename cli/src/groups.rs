//! The table of groups of `halite inspect`.

use crate::table::{grouped, table};
use halite::inspect::groups::GroupRow;

/// A row for each group of parameters.
pub(super) fn describe(rows: &[GroupRow]) -> String {
    let head = ["group", "rule", "rate", "decay", "clip", "count", "elements", "parameters"].map(str::to_owned);
    let cells = rows.iter().map(|row| {
        let none = || "none".to_owned();
        vec![
            row.group.clone().unwrap_or_else(none),
            row.rule.clone().unwrap_or_else(|| "frozen".to_owned()),
            row.lr_scale.map_or_else(none, |scale| format!("x {scale}")),
            decay(row).unwrap_or_else(none),
            row.clip.map_or_else(none, |(key, bound)| format!("{} {bound}", words(key))),
            grouped(row.count),
            grouped(row.elements),
            patterns(row),
        ]
    });
    table(&[head.to_vec()].into_iter().chain(cells).collect::<Vec<_>>())
}

/// `0.1`, or `0 (5), 0.1 (16)` where parameters differ.
fn decay(row: &GroupRow) -> Option<String> {
    match &row.weight_decay[..] {
        [] => None,
        [(decay, _)] => Some(decay.to_string()),
        several => {
            let each = several.iter().map(|(decay, count)| format!("{decay} ({})", grouped(*count)));
            Some(each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The key of a clip without what all have in common: `group norm`.
fn words(key: &str) -> String {
    key.trim_start_matches("clip_").replace('_', " ")
}

fn patterns(row: &GroupRow) -> String {
    let listed = |patterns: &[String]| patterns.join(", ");
    match (&row.group, &row.except[..]) {
        (None, _) => "all others".to_owned(),
        (Some(_), []) => listed(&row.params),
        (Some(_), except) => format!("{} except {}", listed(&row.params), listed(except)),
    }
}
