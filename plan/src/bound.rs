//! Bounds that drop a layout before it is compiled.

use super::Layout;
use super::search::Question;
use super::shallow::{DEPTHS, TOLD_WITHIN, Told, compiled, line};
use halite::Session;
use halite_bundle::{Buffer, BufferRole};
use halite_estimate::time::{Machine, StepTime};
use halite_support::Diagnostics;
use std::collections::HashMap;

/// The figures of a model that bound all layouts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Bytes of all state on one rank, nothing in parts.
    pub(super) state: f64,
    /// Bytes of weights alone.
    pub(super) weights: f64,
    /// Floating-point operations of an update that the model asks for, over all ranks.
    pub(super) flops: f64,
    /// The peak rate of a rank for them.
    pub(super) peak: f64,
}

impl Whole {
    /// Those of a sequence on one rank, from shallow models where the layers are known.
    ///
    /// # Errors
    /// When the compiler refuses the model.
    pub(super) fn of_a_sequence(
        session: &mut Session,
        question: &Question,
        layers: Option<u64>,
    ) -> Result<Self, Diagnostics> {
        let [first, second] = DEPTHS;
        let Some(layers) = layers.filter(|layers| *layers > second) else {
            return Self::compiled(session, question, None);
        };
        let one = Self::compiled(session, question, Some(first))?;
        let two = Self::compiled(session, question, Some(second))?;
        let line = |one: f64, two: f64| line(one, two, (layers - first) as f64);
        Ok(Self {
            state: line(one.state, two.state),
            weights: line(one.weights, two.weights),
            flops: line(one.flops, two.flops),
            peak: one.peak,
        })
    }

    /// Those of a sequence on one rank in a model with so many layers.
    fn compiled(session: &mut Session, question: &Question, layers: Option<u64>) -> Result<Self, Diagnostics> {
        let (bundle, _) = compiled(session, question, &Layout::ALONE, layers)?;
        let (manifest, statistics) = (&bundle.manifest, &bundle.manifest.statistics);
        let weights = manifest.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Weight(_)));
        let weights: u64 = weights.map(Buffer::local_bytes).sum();
        Ok(Self {
            state: statistics.state_bytes as f64,
            weights: weights as f64,
            flops: statistics.matmul_flops_per_token as f64 * statistics.tokens_per_step as f64,
            peak: question.machine.peak(&manifest.recipe.precision.operand.to_string()),
        })
    }

    /// The least bytes of state that a rank holds.
    pub(super) fn state_of(&self, layout: &Layout) -> f64 {
        self.weights / (layout.tensor * layout.pipeline * layout.fsdp) as f64 + self.beside_weights(layout)
    }

    /// Those of the optimizer alone.
    pub(super) fn beside_weights(&self, layout: &Layout) -> f64 {
        let parts = if layout.fsdp > 1 { layout.fsdp } else { layout.data };
        (self.state - self.weights) / (layout.tensor * layout.pipeline * parts) as f64
    }

    /// The least seconds of an update: all that is asked for at the rate that programs reach, and the pipeline filled and drained.
    pub(super) fn seconds(&self, layout: &Layout, ranks: u64, machine: &Machine) -> f64 {
        self.flops / (self.peak * machine.efficiency.products * ranks as f64) * layout.bubble()
    }
}

/// The least that a layout takes. One that needs more than there is, or is slower than those that are shown, is dropped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Least {
    /// That which tells it.
    pub by: &'static str,
    /// Bytes of a rank.
    pub bytes: f64,
    /// Seconds of an update.
    pub seconds: f64,
}

impl Least {
    /// By shallow models of the layout itself.
    pub(super) fn of_shallow(told: &Told) -> Self {
        let bytes = told.memory / (1.0 + TOLD_WITHIN);
        Self { by: "shallow models", bytes, seconds: told.step.total * (1.0 - TOLD_WITHIN) }
    }

    /// By shallow models of the layout with its stages one after the other.
    pub(super) fn of_plain_schedule(told: &Told, layout: &Layout) -> Self {
        let seconds = (told.step.total - told.step.bubble) * layout.bubble();
        let [bytes, seconds] = [told.held, seconds].map(|of| of * (1.0 - TOLD_WITHIN));
        Self { by: "the plain schedule", bytes, seconds }
    }
}

/// Micro-batches in the updates that tell of one: so many that gradients that are sent with the last are nothing beside them.
const MICRO_BATCHES: u64 = 32;

/// Replicas in the updates that tell of a micro-batch where there are any: so many that the parts of weights that a rank stores are nothing
/// beside the rest.
const PARTS: u64 = 64;
/// The axis along which micro-batches of all layouts with the same sizes send as much.
const TENSOR: &str = "tensor";

/// The part of a layout that decides what a micro-batch takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sizes {
    tensor: u64,
    stages: u64,
    /// The schedule of the stages, as recipes name it.
    schedule: &'static str,
    /// Several ranks hold weights whole. Ranks that share a layer add up their gradients once an update with those of others, and after each
    /// micro-batch where there are none.
    data: bool,
    /// Ranks store parts of weights.
    stores_parts: bool,
    batch: u64,
    recompute: Option<&'static str>,
}

impl Sizes {
    /// Those of a layout, of which so many stages at most are compiled.
    pub(super) fn of(layout: &Layout, stages: u64) -> Self {
        let Layout { tensor, pipeline, data, fsdp, batch, recompute, .. } = *layout;
        let stages = pipeline.min(stages);
        // Parts that are interleaved keep no less than whole stages.
        let schedule = if stages > 1 && layout.schedule == "zero-bubble" { "zero-bubble" } else { "1f1b" };
        Self { tensor, stages, schedule, data: data > 1, stores_parts: fsdp > 1, batch, recompute }
    }

    /// The layout that tells of them, with many micro-batches in an update.
    pub(super) fn alone(&self) -> Layout {
        let Self { tensor, stages, schedule, data, stores_parts, batch, recompute } = *self;
        let fsdp = if stores_parts { PARTS } else { 1 };
        let data = match (data, stores_parts) {
            (false, _) => 1,
            (true, false) => PARTS,
            (true, true) => 2,
        };
        Layout {
            tensor,
            pipeline: stages,
            schedule,
            data,
            fsdp,
            batch,
            accumulate: MICRO_BATCHES,
            recompute,
            ..Layout::ALONE
        }
    }
}

/// The micro-batches that were compiled, by what decides them; `None` for those that cannot be.
#[derive(Debug, Default)]
pub(super) struct MicroBatches(pub(super) HashMap<Sizes, Option<MicroBatch>>);

impl MicroBatches {
    /// The least seconds of an update of a layout, told by those of fewer ranks that share a layer: more of them compute as much and send
    /// no less each.
    pub(super) fn least(&self, sizes: &Sizes, layout: &Layout) -> Option<f64> {
        let mut tensors = std::iter::successors(Some(sizes.tensor), |tensor| (*tensor > 1).then(|| tensor / 2));
        let known =
            tensors.find_map(|tensor| self.0.get(&Sizes { tensor, ..*sizes }).copied().flatten().zip(Some(tensor)));
        known.map(|(one, tensor)| one.shared(sizes.tensor / tensor).seconds(layout))
    }
}

/// A micro-batch on the ranks that share a layer, with nothing else in parts but what is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct MicroBatch {
    /// All of its forward and backward on all stages.
    all: Work,
    /// A layer of them; none where that is not told.
    layer: Work,
    /// Seconds of products outside of layers: those of the head, which stand in one stage.
    head: f64,
    /// The number of layers of the model.
    layers: u64,
    /// Seconds of starting its programs on a stage.
    launch: f64,
    /// Bytes of a rank at the peak beside its state.
    kept: f64,
}

/// Seconds of arithmetic, and of collectives of the ranks that share a layer.
#[derive(Clone, Copy, Default, Debug)]
struct Work {
    arithmetic: f64,
    wire: f64,
}

impl Work {
    /// Of a micro-batch on all stages, in a step of so many stages.
    fn of(step: &StepTime, stages: f64) -> Self {
        let wire = step.wire.get(TENSOR).copied().unwrap_or(0.0);
        let times = stages / MICRO_BATCHES as f64;
        Self { arithmetic: (step.products + step.other) * times, wire: wire * times }
    }

    fn seconds(self) -> f64 {
        self.arithmetic + self.wire
    }
}

/// The share of what the first micro-batch, or the last one, takes on other stages for which the busiest one waits at least. Where stages are
/// interleaved these are as many smaller ones; with zero bubble only forwards are waited for, a quarter of what a stage does where its
/// backward computes the forward again.
fn waits(layout: &Layout) -> f64 {
    match layout.schedule {
        "zero-bubble" => 0.25,
        _ => 1.0 / layout.chunks as f64,
    }
}

impl MicroBatch {
    /// Of an update of the layout of some sizes.
    pub(super) fn of(told: &Told, layout: &Layout, layers: u64, machine: &Machine) -> Self {
        // A step tells of the mean stage; a layer more in each part is one in each stage.
        let stages = layout.pipeline as f64;
        let layer = told.layer.as_ref();
        let step = &told.micro_batches;
        let of_layers = layer.map_or(step.products, |layer| layer.products * layers as f64 / stages);
        // A forward and a backward, where they are programs of their own.
        let starts = if layout.pipeline > 1 && step.launch > 0.0 { 2.0 } else { 0.0 };
        Self {
            all: Work::of(step, stages),
            layer: layer.map(|layer| Work::of(layer, 1.0)).unwrap_or_default(),
            head: (step.products - of_layers).max(0.0) * stages / MICRO_BATCHES as f64,
            layers,
            launch: starts * machine.launch,
            kept: told.kept,
        }
    }

    /// The least that it takes where so many times as many ranks share a layer.
    fn shared(self, times: u64) -> Self {
        let times = times as f64;
        let shared = |own: Work| Work { arithmetic: own.arithmetic / times, ..own };
        Self { all: shared(self.all), layer: shared(self.layer), head: self.head / times, ..self }
    }

    /// The least seconds of an update of a layout: those of the busiest stage, and of the others where the first and the last micro-batch pass
    /// them and that waits.
    pub(super) fn seconds(&self, layout: &Layout) -> f64 {
        let mean = self.all.seconds() / layout.pipeline as f64;
        let busiest = self.busiest(layout.pipeline).max(mean);
        let others = (self.all.seconds() - busiest).max(0.0) * waits(layout);
        (layout.accumulate as f64 * (busiest + self.launch) + others) * (1.0 - TOLD_WITHIN)
    }

    /// The least seconds of the busiest of stages that hold whole layers, one of them with the head beside at least one layer.
    fn busiest(&self, stages: u64) -> f64 {
        let layer = self.layer.seconds();
        if stages == 1 || layer <= 0.0 {
            return 0.0;
        }
        let with_head = |own: u64| {
            let most = self.layers.saturating_sub(own).div_ceil(stages - 1);
            (self.head + own as f64 * layer).max(most as f64 * layer)
        };
        (1..=self.layers.div_ceil(stages).max(1)).map(with_head).fold(f64::INFINITY, f64::min)
    }

    /// The least bytes that a rank holds beside its state.
    pub(super) fn kept(&self) -> f64 {
        self.kept * (1.0 - TOLD_WITHIN)
    }
}
