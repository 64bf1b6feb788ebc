//! Time and memory of a deep model, told from two shallow ones.
//!
//! Work, wire and memory grow by the same for each layer, so that two depths tell all others. A shallow model compiles in a fraction of the
//! time; what a search shows is compiled whole all the same.

use super::Layout;
use super::search::Question;
use crate::Bill;
use halite::Session;
use halite::source::Source;
use halite_bundle::Bundle;
use halite_bundle::estimate::MemoryByKind;
use halite_estimate::time::StepTime;
use halite_support::{CancelToken, Diagnostics};
use std::panic::resume_unwind;

/// Shallow models are within this share of the whole one; a law holds them to it.
pub(super) const TOLD_WITHIN: f64 = 0.03;

/// Time and memory of a layout.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Told {
    /// Seconds of an update by cause.
    pub(super) step: StepTime,
    /// Bytes that a rank needs.
    pub(super) memory: f64,
    /// Bytes of these that are neither weights nor gradients, nor made and dropped within a module: the optimizer's, and what forwards keep.
    pub(super) beside_weights: f64,
    /// The time that a further layer in each part adds to an update, where that is told.
    pub(super) layer: Option<StepTime>,
}

/// Compiles the training of a layout, with another number of layers where one is given, and prices it.
pub(super) fn compiled(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: Option<u64>,
) -> Result<(Bundle, Bill), Diagnostics> {
    let source = source(session, question, layout, layers)?;
    Bill::compiled(session, &source, &question.machine)
}

fn source(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: Option<u64>,
) -> Result<Source, Diagnostics> {
    let mut set = question.settings(layout);
    set.extend(layers.map(|layers| format!("layers={layers}")));
    session.load(&question.input, &set)
}

/// Layers in each part of a pipeline of shallow models. One would not do: a layer that a model calls once is no function of its own, and is
/// computed again otherwise.
pub(super) const DEPTHS: [u64; 2] = [2, 3];

/// Time and memory of a layout with so many layers, from shallow models.
pub(super) fn told(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: u64,
) -> Result<Told, Diagnostics> {
    let parts = layout.pipeline * layout.chunks;
    if layers <= DEPTHS[1] * parts {
        return Ok(of(&compiled(session, question, layout, None)?.1));
    }
    let sources = DEPTHS.map(|layers| layers * parts).map(|layers| source(session, question, layout, Some(layers)));
    let [one, two] = sources;
    let (one, two) = (one?, two?);
    let session: &Session = session;
    let compile = |source: &Source| Bill::compiled(session, source, &question.machine);
    let cancel = CancelToken::current();
    let (one, two) = std::thread::scope(|scope| {
        let two = scope.spawn(|| cancel.within(|| compile(&two)));
        (compile(&one), two.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let (one, two) = (of(&one?.1), of(&two?.1));
    // A part that has more layers than others keeps them waiting.
    let more = layers.div_ceil(parts) as f64 - DEPTHS[0] as f64;
    Ok(Told {
        step: along(&one.step, &two.step, more),
        memory: line(one.memory, two.memory, more),
        beside_weights: line(one.beside_weights, two.beside_weights, more),
        layer: Some(difference(&one.step, &two.step)),
    })
}

pub(super) fn of(bill: &Bill) -> Told {
    let MemoryByKind { optimizer, arguments, activations, resident, .. } = bill.peak;
    let beside_weights = [optimizer, arguments, activations, resident].map(|bytes| bytes as f64).iter().sum();
    Told { step: bill.step.clone(), memory: bill.memory[0] as f64, beside_weights, layer: None }
}

/// The value `more` layers after the first.
pub(super) fn line(one: f64, two: f64, more: f64) -> f64 {
    (one + more * (two - one)).max(0.0)
}

/// How much longer the second step takes, by what layers take.
fn difference(one: &StepTime, two: &StepTime) -> StepTime {
    let wire =
        two.wire.iter().map(|(axes, seconds)| (axes.clone(), seconds - one.wire.get(axes).copied().unwrap_or(0.0)));
    StepTime {
        products: two.products - one.products,
        other: two.other - one.other,
        wire: wire.collect(),
        exposed: two.exposed - one.exposed,
        ..StepTime::default()
    }
}

/// The step `more` layers after the first. What is hidden behind other work is no line: all that is written ahead is one, and what other work
/// there is.
fn along(one: &StepTime, two: &StepTime, more: f64) -> StepTime {
    let of = |field: &dyn Fn(&StepTime) -> f64| line(field(one), field(two), more);
    let (products, other) = (of(&|step| step.products), of(&|step| step.other));
    let ahead = of(&|step| step.hidden + step.exposed);
    let hidden = ahead.min(products + other);
    let exposed = ahead - hidden;
    let wire = two.wire.iter().map(|(axes, seconds)| {
        let before = one.wire.get(axes).copied().unwrap_or(0.0);
        (axes.clone(), line(before, *seconds, more))
    });
    StepTime {
        products,
        other,
        wire: wire.collect(),
        exposed,
        launch: of(&|step| step.launch),
        optimizer: of(&|step| step.optimizer),
        bubble: of(&|step| step.bubble),
        hidden,
        total: of(&|step| step.total - step.exposed) + exposed,
    }
}
