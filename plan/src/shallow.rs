//! What a deep model takes, told from two shallow ones.
//!
//! Work, wire and memory grow by the same for each layer, so that two depths tell all others. A shallow model compiles in a fraction of the
//! time; what a search shows is compiled whole all the same.

use super::Layout;
use super::search::Question;
use crate::Bill;
use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::{Bundle, ModuleRole};
use halite_estimate::time::StepTime;
use halite_support::{Diagnostic, Diagnostics};

/// What a search needs to know of a layout.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Told {
    /// Seconds of an update by cause.
    pub(super) step: StepTime,
    /// Bytes that a rank needs, and how many it has.
    pub(super) memory: [f64; 2],
}

/// Compiles the training of a layout, with another number of layers where one is given.
pub(super) fn bundle(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: Option<u64>,
) -> Result<Bundle, Diagnostics> {
    let mut set = question.set.clone();
    set.push(format!("target={}", question.target));
    set.extend(layout.settings().into_iter().map(|(key, value)| format!("{key}={value}")));
    set.extend(layers.map(|layers| format!("layers={layers}")));
    let source = session.load(&question.input, &set)?;
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    Ok(session.compile(&source, &options)?.bundle)
}

/// Compiles the training of a layout, as [`bundle`] does, and prices it.
pub(super) fn compiled(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: Option<u64>,
) -> Result<Bill, Diagnostics> {
    let bundle = bundle(session, question, layout, layers)?;
    let bill = Bill::of(&bundle.manifest, &question.machine);
    bill.ok_or_else(|| Diagnostic::bug("a compiled layout has no estimate of its time").into())
}

/// What a layout takes with so many layers, from models with one layer in each part of the pipeline and with two.
pub(super) fn told(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: u64,
) -> Result<Told, Diagnostics> {
    let parts = layout.pipeline * layout.chunks;
    if layers <= 2 * parts {
        return Ok(of(&compiled(session, question, layout, None)?));
    }
    let one = of(&compiled(session, question, layout, Some(parts))?);
    let two = of(&compiled(session, question, layout, Some(2 * parts))?);
    // A part that has more layers than others keeps them waiting.
    let more = layers.div_ceil(parts) as f64 - 1.0;
    Ok(Told {
        step: along(&one.step, &two.step, more),
        memory: [line(one.memory[0], two.memory[0], more), one.memory[1]],
    })
}

fn of(bill: &Bill) -> Told {
    Told { step: bill.step.clone(), memory: bill.memory.map(|bytes| bytes as f64) }
}

/// The value `more` steps after the first.
fn line(one: f64, two: f64, more: f64) -> f64 {
    (one + more * (two - one)).max(0.0)
}

fn along(one: &StepTime, two: &StepTime, more: f64) -> StepTime {
    let of = |field: fn(&StepTime) -> f64| line(field(one), field(two), more);
    let wire = two.wire.iter().map(|(axes, seconds)| {
        let before = one.wire.get(axes).copied().unwrap_or(0.0);
        (axes.clone(), line(before, *seconds, more))
    });
    StepTime {
        products: of(|step| step.products),
        other: of(|step| step.other),
        wire: wire.collect(),
        launch: of(|step| step.launch),
        optimizer: of(|step| step.optimizer),
        bubble: of(|step| step.bubble),
        hidden: of(|step| step.hidden),
        total: of(|step| step.total),
    }
}
