//! The layout of a step over ranks, for people.

use crate::context::{Context, Output, Result};
use crate::table::{bytes, grouped, table};
use halite::inspect::placement::{PlacedBuffers, Placement, Traffic};
use serde_json::json;

/// Shows the placement of the state of a recipe, and the collectives between ranks.
pub(super) fn show(context: &mut Context, input: &str, set: &[String]) -> Result<Output> {
    let source = context.session.load(input, set)?;
    let placement = context.session.placement(&source)?;
    Ok(Output::new(describe(&placement), json!(placement)))
}

fn describe(placement: &Placement) -> String {
    let ranks: usize = placement.axes.iter().map(|(_, size)| size).product();
    if ranks == 1 {
        return "One rank, which holds all. State a layout, e.g. `--set parallel.data=2 --set parallel.tensor=4`.\n"
            .to_owned();
    }
    let axes: Vec<String> = placement.axes.iter().map(|(name, size)| format!("{name} {size}")).collect();
    let mut text = format!("{} ranks: {}\n\n", grouped(ranks as u64), axes.join(", "));
    text.push_str(&buffers(&placement.buffers));
    text.push('\n');
    text.push_str(&traffic(&placement.traffic));
    text
}

/// `[4096 tensor, 512]`
fn lies(row: &PlacedBuffers) -> String {
    let dim = |(size, axes): (&usize, &String)| match axes.as_str() {
        "" => size.to_string(),
        axes => format!("{size} {axes}"),
    };
    let dims: Vec<String> = row.shape.iter().zip(&row.axes).map(dim).collect();
    format!("[{}]", dims.join(", "))
}

fn buffers(rows: &[PlacedBuffers]) -> String {
    let head = ["state", "count", "whole, sharded along", "bytes of a rank"].map(str::to_owned);
    let row = |row: &PlacedBuffers| vec![row.name.clone(), grouped(row.count), lies(row), bytes(row.bytes)];
    let total = rows.iter().map(|row| row.bytes).sum();
    let total = vec!["all".to_owned(), grouped(rows.iter().map(|row| row.count).sum()), String::new(), bytes(total)];
    table(&[head.to_vec()].into_iter().chain(rows.iter().map(row)).chain([total]).collect::<Vec<_>>())
}

fn traffic(rows: &[Traffic]) -> String {
    let head = ["module", "function", "collective", "along", "in an update", "a rank sends"].map(str::to_owned);
    let row = |row: &Traffic| {
        let Traffic { module, function, op, axis, .. } = row;
        vec![module.clone(), function.clone(), op.clone(), axis.clone(), grouped(row.count), bytes(row.bytes)]
    };
    let [count, sent] =
        [|row: &Traffic| row.count, |row: &Traffic| row.bytes].map(|of| rows.iter().map(of).sum::<u64>());
    let none = String::new;
    let total = vec!["all".to_owned(), none(), none(), none(), grouped(count), bytes(sent)];
    table(&[head.to_vec()].into_iter().chain(rows.iter().map(row)).chain([total]).collect::<Vec<_>>())
}
