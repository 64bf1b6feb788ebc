//! Published figures beside what the model says of them.

use crate::Bill;
use halite::Session;
use halite_estimate::Provenance;
use halite_estimate::time::Machine;
use halite_support::{Diagnostic, Diagnostics};
use serde::{Deserialize, Serialize};

/// A published figure of a training run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The run in some words.
    pub name: String,
    /// The preset or model.
    pub input: String,
    /// The keys of the recipe, with the layout.
    pub set: Vec<String>,
    /// The machine, by the name of its target.
    pub machine: String,
    /// The figure.
    pub measured: Measure,
    /// The share of the rates of programs on the machine that the software reached which ran it, 1 where the machine's efficiencies are of it.
    #[serde(default = "whole")]
    pub software: f64,
    /// Whether efficiencies were fitted to it.
    #[serde(default)]
    pub fitted: bool,
    /// Keys that the source does not state, which are our guess.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// A contradiction in the source of the row, which is shown and not counted; empty where there is none.
    #[serde(default)]
    pub doubt: String,
    /// The source.
    pub provenance: Provenance,
}

fn whole() -> f64 {
    1.0
}

/// A measured speed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Seconds of an update.
    StepSeconds(f64),
    /// Sequences in a second, over all ranks.
    SequencesPerSecond(f64),
}

impl Measure {
    /// The seconds of an update that it says.
    fn seconds(self, bill: &Bill, seq: f64) -> f64 {
        match self {
            Measure::StepSeconds(seconds) => seconds,
            Measure::SequencesPerSecond(rate) => bill.tokens as f64 / seq / rate,
        }
    }
}

/// A row with what the model says of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The row.
    pub row: Row,
    /// The bill of the model.
    pub bill: Bill,
    /// The seconds of an update that were measured.
    pub measured: f64,
}

impl Judged {
    /// How much longer the model says that an update takes than it did, as a share.
    pub fn error(&self) -> f64 {
        self.bill.step.total / self.measured - 1.0
    }
}

#[derive(Deserialize)]
struct Rows {
    row: Vec<Row>,
}

/// The published figures of this build.
///
/// # Errors
/// A bug: the table is part of the build, and a test reads it.
pub fn rows() -> Result<Vec<Row>, Diagnostic> {
    let rows: Rows = toml::from_str(include_str!("../data/rows.toml"))
        .map_err(|error| Diagnostic::bug(format!("the table of published figures: {error}")))?;
    Ok(rows.row)
}

/// The bill of a published run on its machine, beside its figure.
///
/// # Errors
/// When the recipe of the row is refused.
pub fn calibrate(session: &mut Session, row: &Row, machine: Machine) -> Result<Judged, Diagnostics> {
    let source = session.load(&row.input, &row.set)?;
    let (bundle, bill) = Bill::compiled(session, &source, &slowed(machine, row.software))?;
    let seq = bundle.manifest.recipe.seq.unwrap_or(1) as f64;
    let measured = row.measured.seconds(&bill, seq);
    Ok(Judged { row: row.clone(), bill, measured })
}

/// The machine with software that reaches a share of its rates.
fn slowed(mut machine: Machine, share: f64) -> Machine {
    let efficiency = &mut machine.efficiency;
    efficiency.products *= share;
    efficiency.elements *= share;
    efficiency.links.iter_mut().for_each(|link| *link *= share);
    machine
}
