//! The tables of `halite inspect --precision`.

use crate::table::{bytes, facts, grouped, table};
use halite::inspect::precision::{OpRow, PrecisionSummary, StateRow};
use halite_tensor::DType;

/// The state, then what computes with little to spare.
pub(super) fn describe(summary: &PrecisionSummary) -> String {
    let mut text = state(summary);
    if !summary.ops.is_empty() {
        text.push('\n');
        text.push_str(&ops(&summary.ops));
    }
    let converts = summary.converts.iter().map(|(pair, count)| format!("{} {pair}", grouped(*count)));
    let converts: Vec<_> = converts.collect();
    let converts = if converts.is_empty() { "none".to_owned() } else { converts.join(", ") };
    let total: u64 = summary.bytes.values().sum();
    let per_parameter = total as f64 / (summary.parameters.max(1)) as f64;
    let mut pairs = vec![
        ("state", bytes(total)),
        ("parameters", grouped(summary.parameters)),
        ("bytes per parameter", format!("{per_parameter:.2}")),
    ];
    if !summary.ops.is_empty() {
        pairs.push(("converts", converts));
    }
    format!("{text}\n{}", facts(&pairs))
}

fn state(summary: &PrecisionSummary) -> String {
    let slots: Vec<&str> = summary.bytes.keys().map(String::as_str).collect();
    let head = ["parameter", "count", "elements"].into_iter().chain(slots.iter().copied()).chain(["bytes"]);
    let mut rows = vec![head.map(str::to_owned).collect::<Vec<_>>()];
    for StateRow { parameter, count, elements, slots: own, bytes: size, .. } in &summary.state {
        let mut row = vec![parameter.clone(), grouped(*count), grouped(*elements)];
        row.extend(slots.iter().map(|slot| own.get(*slot).map_or("none", |dtype| dtype.name()).to_owned()));
        row.push(bytes(*size));
        rows.push(row);
    }
    let count: u64 = summary.state.iter().map(|row| row.count).sum();
    let mut all = vec!["all".to_owned(), grouped(count), grouped(summary.parameters)];
    all.extend(slots.iter().map(|slot| bytes(summary.bytes[*slot])));
    all.push(bytes(summary.bytes.values().sum()));
    rows.push(all);
    table(&rows)
}

fn ops(ops: &[OpRow]) -> String {
    let head = ["scope", "op", "class", "operands", "compute", "accumulate", "results", "count"].map(str::to_owned);
    let types = |dtypes: &[DType]| dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
    let maybe = |dtype: Option<DType>| dtype.map_or("", |dtype| dtype.name()).to_owned();
    let row = |row: &OpRow| {
        vec![
            row.scope.clone(),
            row.op.clone(),
            row.class.to_owned(),
            types(&row.operands),
            maybe(row.compute),
            maybe(row.accumulate),
            types(&row.results),
            grouped(row.count),
        ]
    };
    table(&[head.to_vec()].into_iter().chain(ops.iter().map(row)).collect::<Vec<_>>())
}
