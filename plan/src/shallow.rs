//! Time and memory of a deep model, told from two shallow ones.
//!
//! Work, wire and memory grow by the same for each layer, so that two depths tell all others. A shallow model compiles in a fraction of the
//! time; what a search shows is compiled whole all the same.

use super::Layout;
use super::search::Question;
use super::side_by_side::side_by_side;
use crate::Bill;
use halite::Session;
use halite::source::Source;
use halite_bundle::{Action, Bundle, ModuleEntry};
use halite_estimate::time::{Machine, StepTime, step_time};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Diagnostics};
use std::collections::HashSet;

/// Shallow models are within this share of the whole one; a law holds them to it.
pub(super) const TOLD_WITHIN: f64 = 0.03;

/// Time and memory of a layout.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Told {
    /// Seconds of an update by cause.
    pub(super) step: StepTime,
    /// Bytes that a rank needs.
    pub(super) memory: f64,
    /// Bytes of these that stay from one module to the next: state, sums of gradients and what is kept.
    pub(super) held: f64,
    /// Bytes that forwards keep for their backwards.
    pub(super) kept: f64,
    /// The micro-batches of an update, without what is done once.
    pub(super) micro_batches: StepTime,
    /// The time that a further layer in each part adds to them, where that is told.
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

pub(super) fn source(
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

/// Those of a recipe. Where weights are gathered while the layers before run, or gradients are sent while others do, a layer with such a one
/// on both sides is what a deep model consists of, and a model of two has none.
fn depths(recipe: &Recipe) -> [u64; 2] {
    let ahead = recipe.parallel.as_ref().filter(|own| own.fsdp > 1);
    let ahead = ahead.map_or(0, |own| u64::from(own.fsdp_prefetch.max(own.fsdp_delay)));
    DEPTHS.map(|depth| depth + ahead)
}

/// Time and memory of a layout with so many layers, from shallow models.
pub(super) fn told(
    session: &mut Session,
    question: &Question,
    layout: &Layout,
    layers: u64,
) -> Result<Told, Diagnostics> {
    let parts = layout.pipeline * layout.chunks;
    let depths = depths(&source(session, question, layout, None)?.recipe);
    // Parts that have a layer more than others have it in shallow models too.
    let beside = layers % parts;
    if layers <= depths[1] * parts + beside {
        return Ok(of(compiled(session, question, layout, None)?, &question.machine));
    }
    let mut shallow = |depth: u64| source(session, question, layout, Some(depth * parts + beside));
    let sources = [shallow(depths[0])?, shallow(depths[1])?];
    let session: &Session = session;
    let compiled = side_by_side(&sources, |source| Bill::compiled(session, source, &question.machine));
    let told = compiled.into_iter().map(|compiled| Ok(of(compiled?, &question.machine)));
    let told = told.collect::<Result<Vec<Told>, Diagnostics>>()?;
    let [one, two] = &told[..] else { return Err(Diagnostic::bug("two models were not compiled").into()) };
    let more = (layers / parts - depths[0]) as f64;
    // The peak may be another moment in the second model, which keeps more and needs less beside it; a layer adds no more than to all.
    let added = two.memory - one.memory;
    let within = |one: f64, two: f64| line(one, two.min(one + added), more);
    Ok(Told {
        step: along(&one.step, &two.step, more),
        memory: line(one.memory, two.memory, more),
        held: within(one.held, two.held),
        kept: within(one.kept, two.kept),
        micro_batches: along(&one.micro_batches, &two.micro_batches, more),
        layer: Some(difference(&one.micro_batches, &two.micro_batches)),
    })
}

/// Those of a layout that was compiled whole.
pub(super) fn of((bundle, bill): (Bundle, Bill), machine: &Machine) -> Told {
    let mut manifest = bundle.manifest;
    let one_stage = manifest.num_stages() == 1;
    // What is done once an update is no part of a micro-batch.
    for list in &mut manifest.schedule {
        list.retain(|action| !matches!(action, Action::Run { pieces: None, .. }));
    }
    let runs = manifest.schedule.iter().flatten().filter_map(|action| match action {
        Action::Run { module, .. } => Some(module.as_str()),
        _ => None,
    });
    let runs: HashSet<&str> = runs.collect();
    let peak = |entry: &ModuleEntry| entry.estimate.as_ref().map(|own| own.memory.peak).unwrap_or_default();
    let (mut held, mut kept) = (0, 0);
    for entry in manifest.modules.iter().filter(|entry| runs.contains(entry.name.as_str())) {
        let own = peak(entry);
        // Where forward and backward are modules of their own, all that a backward makes is gone after it.
        let within = if one_stage { own.activations } else { 0 };
        let beside_weights = own.optimizer + own.gradients + own.arguments + within + own.resident;
        held = held.max(own.weights + beside_weights);
        // A module that does not take these has them among all that stays on the core.
        let stage = || manifest.modules.iter().filter(|other| other.stage == entry.stage).map(peak);
        let optimizer = stage().map(|own| own.optimizer).max().unwrap_or(0);
        let gradients = stage().map(|own| own.gradients).max().unwrap_or(0);
        kept = kept.max(beside_weights.saturating_sub(optimizer + gradients));
    }
    let (held, kept, memory) = (held as f64, kept as f64, bill.memory[0] as f64);
    let micro_batches = step_time(&manifest, machine).unwrap_or_default();
    Told { step: bill.step, memory, held, kept, micro_batches, layer: None }
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
