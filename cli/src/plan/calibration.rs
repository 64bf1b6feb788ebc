//! Published figures beside what the arithmetic says of them.

use super::amounts::{percent, seconds};
use super::machine_named;
use super::show::{bill_json, wrapped};
use crate::bars;
use crate::context::{Context, Output, Result};
use crate::table::{bytes, table};
use halite_bundle::estimate::FitVerdict;
use halite_plan::{
    CostRatio, Fits, Judged, Measure, ReferenceTarget, Row, calibrate, cost_ratios, reference_machines, rows,
};
use halite_support::Diagnostic;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn show(context: &mut Context) -> Result<Output> {
    context.session.register_target(Arc::new(ReferenceTarget::new()?))?;
    let references: Vec<String> = reference_machines()?.into_iter().map(|row| row.machine.name).collect();
    let judged = judged(context)?;
    let ratios = cost_ratios()?;
    let (others, own): (Vec<&Judged>, Vec<&Judged>) =
        judged.iter().partition(|own| references.contains(&own.row.machine));
    let said = wrapped(&format!("Seconds of an update. {}\n", summary(&own)));
    let mut text = format!("{}\n{said}", times(&own));
    text.push_str(&format!("\nMFU, each counted as its source counts it:\n\n{}", utilizations(&own)));
    text.push_str(&format!("\nOther machines, which that does not count:\n\n{}", times(&others)));
    text.push_str(&format!("\n{}", wrapped(&format!("{}\n", summary(&others)))));
    text.push_str(&format!("\nMemory of a rank:\n\n{}", memory(&judged)));
    text.push_str(&format!("\n{}", verdicts(&own)));
    text.push_str(&format!("\nCost of a token, on demand:\n\n{}", costs(&ratios, &judged)));
    text.push_str(&format!("\n{}", remarks(&judged, &ratios)));
    let rows: Vec<Value> = judged.iter().map(|own| value(own, references.contains(&own.row.machine))).collect();
    let costs: Vec<Value> = ratios.iter().map(|ratio| cost_value(ratio, &judged)).collect();
    Ok(Output::new(text, json!({"rows": rows, "costs": costs})))
}

/// All rows with what the arithmetic says of them.
fn judged(context: &mut Context) -> Result<Vec<Judged>> {
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
    Ok(judged)
}

/// The rows with a speed.
fn times(judged: &[&Judged]) -> String {
    let head = ["published", "machine", "measured", "told", "error", ""].map(str::to_owned).to_vec();
    let lines = judged.iter().filter_map(|own| {
        Some(vec![
            own.row.name.clone(),
            own.row.machine.clone(),
            seconds(own.measured?),
            seconds(own.bill.step.total),
            off(own.error()?),
            role(&own.row).to_owned(),
        ])
    });
    table(&[head].into_iter().chain(lines).collect::<Vec<_>>())
}

/// The rows whose figure is MFU. The last column is ours: attention to all positions, at the peak rate of the machine.
fn utilizations(judged: &[&Judged]) -> String {
    let head = ["published", "MFU", "told", "told as `halite plan` counts"].map(str::to_owned).to_vec();
    let lines = judged.iter().filter_map(|own| {
        let [published, told] = own.mfu()?;
        Some(vec![own.row.name.clone(), percent(published), percent(told), percent(own.bill.mfu)])
    });
    table(&[head].into_iter().chain(lines).collect::<Vec<_>>())
}

/// An error for people: `+7.6%`.
fn off(error: f64) -> String {
    format!("{:+.1}%", 100.0 * error)
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
fn summary(judged: &[&Judged]) -> String {
    let predicted = judged.iter().filter(|own| role(&own.row) == PREDICTED);
    let mut errors: Vec<f64> = predicted.filter_map(|own| own.error()).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let (median, most) = (errors.get(errors.len() / 2), errors.last());
    let share = |error: Option<&f64>| error.map_or_else(|| "unknown".to_owned(), |error| percent(*error));
    format!(
        "{} rows were fitted to, {} are predicted: median error {}, largest {}.",
        judged.iter().filter(|own| own.row.fitted).count(),
        errors.len(),
        share(median),
        share(most)
    )
}

/// The rows with memory.
fn memory(judged: &[Judged]) -> String {
    let head = ["published", "machine", "GiB", "told", "error"].map(str::to_owned).to_vec();
    let lines = judged.iter().filter_map(|own| {
        let error = own.memory_error()?;
        let gib = |gib: f64| format!("{gib:.1}");
        Some(vec![own.row.name.clone(), own.row.machine.clone(), gib(own.row.memory?), gib(own.gib()), off(error)])
    });
    table(&[head].into_iter().chain(lines).collect::<Vec<_>>())
}

/// The runs of which the estimate says another thing than what came of them, and those that ran out of memory.
fn verdicts(judged: &[&Judged]) -> String {
    let ran = |own: &Judged| own.row.measured != Measure::OutOfMemory;
    let fits =
        |own: &Judged| matches!(own.bill.fits.map(Fits::verdict), Some(FitVerdict::Fits | FitVerdict::FitsWithFlag));
    let all = judged.iter().filter(|own| ran(own)).count();
    let agree = judged.iter().filter(|own| ran(own) && fits(own)).count();
    let mut text =
        format!("{agree} of {all} runs that ran fit by the estimate. The others, and what ran out of memory:\n\n");
    let head = ["run", "ran", "fits", "memory", "needs", "of"].map(str::to_owned).to_vec();
    let lines = judged.iter().filter(|own| !ran(own) || !fits(own)).map(|own| {
        vec![
            own.row.name.clone(),
            (if ran(own) { "yes" } else { "no" }).to_owned(),
            fit(own.bill.fits.map(Fits::verdict)),
            fit(own.bill.fits.map(|fits| fits.memory)),
            bytes(own.bill.memory[0]),
            bytes(own.bill.memory[1]),
        ]
    });
    text.push_str(&table(&[head].into_iter().chain(lines).collect::<Vec<_>>()));
    text
}

fn fit(verdict: Option<FitVerdict>) -> String {
    verdict.map_or("not known", crate::estimate::word).to_owned()
}

/// Published ratios of costs.
fn costs(ratios: &[CostRatio], judged: &[Judged]) -> String {
    let head = ["run", "over", "published", "told"].map(str::to_owned).to_vec();
    let lines = ratios.iter().map(|ratio| {
        let told = ratio.told(judged).map_or_else(|| "unknown".to_owned(), |told| format!("{told:.2}"));
        vec![ratio.of.clone(), ratio.over.clone(), format!("{:.2}", ratio.published), told]
    });
    table(&[head].into_iter().chain(lines).collect::<Vec<_>>())
}

/// The differences of runs from their recipes, and explanations of ratios.
fn remarks(judged: &[Judged], ratios: &[CostRatio]) -> String {
    let rows = judged.iter().flat_map(|own| [&own.row.doubt, &own.row.note].map(|said| (own.row.name.clone(), said)));
    let ratios = ratios.iter().map(|own| (format!("{} over {}", own.of, own.over), &own.note));
    let said = rows.chain(ratios).filter(|(_, said)| !said.is_empty());
    said.map(|(of, said)| wrapped(&format!("- {of}: {said}.\n"))).collect()
}

fn value(own: &Judged, reference: bool) -> Value {
    json!({
        "name": own.row.name, "machine": own.row.machine, "reference": reference, "fitted": own.row.fitted, "assumed": own.row.assumed,
        "doubt": own.row.doubt, "note": own.row.note, "measured": own.row.measured, "measured_seconds": own.measured,
        "seconds": own.bill.step.total, "error": own.error(), "mfu": own.bill.mfu, "hfu": own.bill.hfu, "measured_gib": own.row.memory, "gib": own.gib(),
        "memory_error": own.memory_error(), "bill": bill_json(&own.bill, None), "source": own.row.provenance,
    })
}

fn cost_value(ratio: &CostRatio, judged: &[Judged]) -> Value {
    json!({
        "of": ratio.of, "over": ratio.over, "published": ratio.published, "told": ratio.told(judged), "note": ratio.note,
        "source": ratio.provenance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_plan::{Bill, Cost};
    use halite_target::estimate::time::{PriceKind, StepTime};
    use halite_target::{Basis, Provenance};

    fn provenance() -> Provenance {
        Provenance { source: "a test".to_owned(), read: "2026-11".to_owned(), basis: Basis::Inferred }
    }

    /// A run that is told to take `told` seconds and to cost as many dollars for a billion tokens, on 12 of 16 GiB.
    fn own(name: &str, measured: Measure, told: f64, fits: FitVerdict) -> Judged {
        let row = Row {
            name: name.to_owned(),
            input: "llama".to_owned(),
            set: Vec::new(),
            machine: "trn1".to_owned(),
            measured,
            memory: Some(10.0),
            software: 1.0,
            fitted: name == "first",
            assumed: Vec::new(),
            doubt: String::new(),
            note: if name == "first" { "it is the first".to_owned() } else { String::new() },
            provenance: provenance(),
        };
        let step = StepTime { total: told, ..StepTime::default() };
        let costs = vec![Cost { kind: PriceKind::OnDemand, hour: 1.0, billion_tokens: told }];
        let memory = [12 << 30, 16 << 30];
        let fits = Some(Fits { memory: FitVerdict::Fits, instructions: fits });
        let bill = Bill {
            ranks: 1,
            instances: 1,
            tokens: 1,
            step,
            mfu: 0.4,
            hfu: 0.5,
            peak: Default::default(),
            memory,
            fits,
            costs,
        };
        let measured = match measured {
            Measure::StepSeconds(seconds) => Some(seconds),
            _ => None,
        };
        Judged { row, bill, measured }
    }

    fn all() -> Vec<Judged> {
        vec![
            own("first", Measure::StepSeconds(2.0), 2.1, FitVerdict::Fits),
            own("second", Measure::StepSeconds(4.0), 3.0, FitVerdict::MayNotFit),
            own("third", Measure::OutOfMemory, 4.2, FitVerdict::Fits),
        ]
    }

    #[test]
    fn rows_that_were_fitted_are_not_counted() {
        let all = all();
        let all: Vec<&Judged> = all.iter().collect();
        let text = times(&all);
        assert_eq!(
            text.lines().filter(|line| line.contains("fitted") || line.contains("predicted")).count(),
            2,
            "{text}"
        );
        assert_eq!(summary(&all), "1 rows were fitted to, 1 are predicted: median error 25.0%, largest 25.0%.");
    }

    #[test]
    fn runs_that_are_told_otherwise_are_listed() {
        let all = all();
        let text = verdicts(&all.iter().collect::<Vec<_>>());
        assert!(text.starts_with("1 of 2 runs that ran fit"), "{text}");
        assert!(!text.contains("first") && text.contains("second") && text.contains("third"), "{text}");
        assert!(memory(&all).contains("+20.0%"), "12 GiB for 10");
    }

    #[test]
    fn ratios_are_those_of_named_rows() {
        let ratio = |of: &str| CostRatio {
            of: of.to_owned(),
            over: "first".to_owned(),
            published: 1.5,
            note: String::new(),
            provenance: provenance(),
        };
        let text = costs(&[ratio("third"), ratio("fourth")], &all());
        assert!(text.lines().any(|line| line.contains("third") && line.trim_end().ends_with("2.00")), "{text}");
        assert!(text.contains("unknown"), "{text}");
        assert_eq!(remarks(&all(), &[]), "- first: it is the first.\n");
    }
}
