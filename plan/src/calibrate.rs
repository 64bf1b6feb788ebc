//! Published figures beside what the model says of them.

use crate::{Bill, Measure, Row};
use halite::Session;
use halite_estimate::time::Machine;
use halite_support::Diagnostics;

/// A row with what the model says of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The row.
    pub row: Row,
    /// The bill of the model.
    pub bill: Bill,
    /// The seconds of an update that were measured, where a speed was.
    pub measured: Option<f64>,
}

/// The bytes of a GiB.
const GIB: f64 = (1_u64 << 30) as f64;

impl Judged {
    /// How much longer the model says that an update takes than it did, as a share; `None` where no speed was measured.
    pub fn error(&self) -> Option<f64> {
        Some(self.bill.step.total / self.measured? - 1.0)
    }

    /// The MFU that was published and the one that the model says, counted alike; `None` where the figure is another one.
    pub fn mfu(&self) -> Option<[f64; 2]> {
        let Measure::Mfu { share, .. } = self.row.measured else { return None };
        Some([share, share * self.measured? / self.bill.step.total])
    }

    /// The GiB that a rank needs by the model.
    pub fn gib(&self) -> f64 {
        self.bill.memory[0] as f64 / GIB
    }

    /// How much more memory the model says that a rank needs than it took, as a share; `None` where none was measured.
    pub fn memory_error(&self) -> Option<f64> {
        Some(self.gib() / self.row.memory? - 1.0)
    }
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
