//! Published figures beside what the arithmetic says of them.

use super::amounts::{percent, seconds};
use super::machine_named;
use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::table;
use halite_plan::{Judged, Row, calibrate, rows};
use halite_support::Diagnostic;
use serde_json::{Value, json};

pub(super) fn show(context: &mut Context) -> Result<Output> {
    let rows = rows()?;
    let bar = bars::bar(context, rows.len() as u64, "{bar:10.cyan/black.dim} {pos}/{len}  {wide_msg}");
    let mut judged: Vec<Judged> = Vec::new();
    for row in &rows {
        bar.set_message(row.name.clone());
        let machine = machine_named(context, &row.machine);
        let machine = machine.ok_or_else(|| Diagnostic::bug(format!("no machine `{}`", row.machine)))?;
        judged.push(calibrate(&mut context.session, row, machine)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let head = ["published", "machine", "measured", "told", "error", "HFU", ""].map(str::to_owned).to_vec();
    let lines = judged.iter().map(|own| {
        vec![
            own.row.name.clone(),
            own.row.machine.clone(),
            seconds(own.measured),
            seconds(own.bill.step.total),
            format!("{:+.1}%", 100.0 * own.error()),
            percent(own.bill.hfu),
            role(&own.row).to_owned(),
        ]
    });
    let mut text = table(&[head].into_iter().chain(lines).collect::<Vec<_>>());
    text.push_str(&format!("\n{}\n", summary(&judged)));
    let json: Vec<Value> = judged.iter().map(value).collect();
    Ok(Output::new(text, json!({"rows": json})))
}

/// A row that the arithmetic knew nothing of.
const PREDICTED: &str = "predicted";

/// The use of a row.
fn role(row: &Row) -> &'static str {
    match row {
        Row { fitted: true, .. } => "fitted",
        Row { doubt, .. } if !doubt.is_empty() => "in doubt",
        _ => PREDICTED,
    }
}

/// The median and the largest error of rows that nothing was fitted to.
fn summary(judged: &[Judged]) -> String {
    let mut errors: Vec<f64> =
        judged.iter().filter(|own| role(&own.row) == PREDICTED).map(|own| own.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let (median, most) = (errors.get(errors.len() / 2), errors.last());
    let share = |error: Option<&f64>| error.map_or_else(|| "unknown".to_owned(), |error| percent(*error));
    format!(
        "Seconds of an update. {} rows were fitted to, {} are predicted: median error {}, largest {}.",
        judged.iter().filter(|own| own.row.fitted).count(),
        errors.len(),
        share(median),
        share(most)
    )
}

fn value(own: &Judged) -> Value {
    json!({
        "name": own.row.name, "machine": own.row.machine, "fitted": own.row.fitted, "assumed": own.row.assumed, "doubt": own.row.doubt,
        "measured_seconds": own.measured, "seconds": own.bill.step.total, "error": own.error(), "hfu": own.bill.hfu,
        "source": own.row.provenance,
    })
}
