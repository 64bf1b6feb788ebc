//! The scale of residual streams over depth.

use crate::table::table;
use halite_analysis::{ResidualBranch, ResidualStream};
use serde_json::{Value, json};

/// A table for each stream: a row for each layer, with the standard deviation that it adds and that after it; then what these are.
pub(super) fn describe(streams: &[ResidualStream]) -> String {
    let tables: String = streams.iter().map(|stream| table(&rows(stream))).collect();
    if tables.is_empty() { NONE.to_owned() } else { tables + ABOUT }
}

/// Why there is no table.
const NONE: &str = "residual stream: not followed: that takes sums `x + f(x)` of a computed `x`, where `f` ends in a product with \
    a weight and not in a norm\n";

/// The legend of the table.
const ABOUT: &str = "std is the standard deviation of the stream's values at the first step, as the initial weights make them; \
    added std is that of what a layer adds to the stream. It is well if std stays nearly the same over all layers.\n";

fn rows(stream: &ResidualStream) -> Vec<Vec<String>> {
    let head = ["residual stream", "added std", "std"].map(str::to_owned).to_vec();
    let start = vec!["start".to_owned(), String::new(), number(stream.start)];
    let layer = |branches: &[ResidualBranch]| {
        let scope = branches.first().map_or("", |branch| &*branch.scope);
        let squares = branches.iter().map(|branch| Some(branch.added?.powi(2)));
        let added = squares.sum::<Option<f64>>().map(f64::sqrt);
        let name = if scope.is_empty() { "layer".to_owned() } else { scope.to_owned() };
        vec![name, number(added), number(branches.last().and_then(|last| last.stream))]
    };
    let layers = stream.branches.chunk_by(|a, b| a.scope == b.scope).map(layer);
    [head, start].into_iter().chain(layers).collect()
}

fn number(std: Option<f64>) -> String {
    std.map_or("-".to_owned(), |std| format!("{std:.4}"))
}

/// The same, branch by branch, for programs.
pub(super) fn figures(streams: &[ResidualStream]) -> Value {
    let branch = |branch: &ResidualBranch| {
        let weights: Vec<&str> = branch.weights.iter().map(|name| &**name).collect();
        json!({"scope": branch.scope, "weights": weights, "added_std": branch.added, "std": branch.stream})
    };
    let stream = |stream: &ResidualStream| json!({"start_std": stream.start, "branches": stream.branches.iter().map(branch).collect::<Vec<_>>()});
    streams.iter().map(stream).collect()
}
