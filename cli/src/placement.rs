//! The layout of a step over ranks, for people.

use crate::context::{Context, Output, Result};
use crate::table::{bytes, grouped, table};
use halite::inspect::placement::{PlacedBuffers, Placement, Traffic};
use halite_bundle::{Bundle, Manifest};
use halite_page::plot;
use halite_support::{Diagnostic, codes};
use serde_json::json;
use std::path::Path;

/// Shows the placement of the state of a recipe or a bundle, and of a recipe the collectives between ranks; draws it to a file where one
/// is named.
pub(super) fn show(context: &mut Context, input: &str, set: &[String], file: Option<&Path>) -> Result<Output> {
    let (manifest, placement) = if Bundle::is_at(Path::new(input)) {
        let manifest = context.bundle(input, set)?.1.manifest;
        context.aside("a bundle tells where its state lies; for what ranks send to one another name its recipe\n");
        let placement = Placement::of(&manifest);
        (manifest, placement)
    } else {
        let source = context.session.load(input, set)?;
        context.session.placed(&source)?
    };
    let mut text = describe(&placement);
    if let Some(file) = file {
        if manifest.mesh.num_ranks() == 1 {
            return Err(undrawn(file, &manifest).into());
        }
        halite_disk::write(file, plot::placement(&manifest)?.as_bytes())?;
        text.push_str(&format!("\nwrote {}\n", file.display()));
    }
    Ok(Output::new(text, json!(placement)))
}

/// There is nothing to draw where a rank holds all.
fn undrawn(file: &Path, manifest: &Manifest) -> Diagnostic {
    let who =
        if manifest.num_stages() > 1 { "each stage has one rank, which holds all of it" } else { "one rank holds all" };
    let message = format!("there is no placement to draw to {}: {who}", file.display());
    Diagnostic::error(codes::USAGE, message)
        .help("state a layout in the recipe, e.g. `--set parallel.data=2 --set parallel.tensor=4`")
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
    if let Some(rows) = &placement.traffic {
        text.push('\n');
        text.push_str(&traffic(rows));
    }
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
