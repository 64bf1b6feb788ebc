//! The cases of the law that a pipeline makes the updates of one device, and what both are run on.

use crate::compiled::expect;
use crate::covering::{Shows, covering};
use crate::product::Asked;
use crate::quick;
use halite::Session;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Bundle, Manifest, init};
use halite_support::Diagnostics;
use halite_tensor::HostTensor;
use halite_test_kit::numeric::uniform;
use halite_train::{Metrics, TrainStep};

/// A model and its sizes.
pub type Model = (&'static str, &'static [&'static str]);

/// Grouped heads; dropout and a tied head; a tied head beside grouped heads; a model that reads in both directions and is fed more than
/// tokens; a loss and a metric that layers hand on to one another.
pub const MODELS: [Model; 5] = [
    ("tiny", &["layers=4", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=6"]),
    (
        "../models/gpt2.hal",
        &[
            "layers=4",
            "hidden=16",
            "heads=4",
            "positions=6",
            "vocab=32",
            "seq=6",
            "attn_dropout=0.2",
            "embd_dropout=0.1",
            "resid_dropout=0.1",
        ],
    ),
    (
        "../models/qwen2.hal",
        &["layers=4", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=6", "tied=true"],
    ),
    (
        "../models/bert.hal",
        &["layers=4", "hidden=16", "heads=4", "positions=6", "vocab=32", "seq=6", "typed=true", "padded=true"],
    ),
    ("data/handed.hal", &["layers=4", "seq=6"]),
];

/// The position of the last.
const HANDED: usize = 4;

/// The layers of each.
const LAYERS: usize = 4;

/// The words of schedules, with the chunks of each.
const SCHEDULES: [(&str, usize); 4] = [("1f1b", 1), ("gpipe", 1), ("interleaved", 2), ("zero-bubble", 1)];

/// Sequences of a micro-batch on all ranks.
const ROWS: usize = 4;

/// The norm that gradients are clipped to: below that of any model here.
pub const CLIP: f64 = 0.05;

/// The cases that are asked for: by `HALITE_PIPELINES=all` all, by `HALITE_PIPELINES=100` so many of them.
pub fn asked() -> Asked {
    Asked::by("HALITE_PIPELINES")
}

/// Whether a long run is asked for.
pub fn is_long() -> bool {
    asked() != Asked::Covering
}

/// A model on a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Case {
    /// Its position among [`MODELS`].
    pub model: usize,
    /// Micro-batches of an update.
    pub accumulate: usize,
    /// The position of the schedule among those that there are.
    pub schedule: usize,
    /// Stages.
    pub pipeline: usize,
    /// Ranks of a stage along `tensor`.
    pub tensor: usize,
    /// Ranks of a stage along `data`.
    pub data: usize,
    /// Ranks of a stage along `fsdp`.
    pub fsdp: usize,
    /// The stage of ZeRO.
    pub zero: usize,
}

impl Case {
    /// Every model in every layout of at most 8 devices, by each schedule, with four micro-batches and eight; but not layers that hand on
    /// more than one number in more parts than there are layers, which are refused: what one of them makes is read two parts later.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for model in 0..MODELS.len() {
            for accumulate in [4, 8] {
                for (schedule, (_, chunks)) in SCHEDULES.iter().enumerate() {
                    for (pipeline, tensor, data, fsdp, zero) in shapes() {
                        let case = Self { model, accumulate, schedule, pipeline, tensor, data, fsdp, zero };
                        if model != HANDED || pipeline * chunks <= LAYERS {
                            all.push(case);
                        }
                    }
                }
            }
        }
        all
    }

    /// Few of them, in which any two choices meet that can.
    pub fn covering() -> Vec<Self> {
        let all = Self::all();
        let shows: Vec<_> = all.iter().map(|case| Shows { must: case.pairs(), may: Vec::new() }).collect();
        covering(&shows, 0).into_iter().map(|at| all[at]).collect()
    }

    /// Whether activations are sharded along the sequence: in half of the layouts that can.
    fn sequence(&self) -> bool {
        self.tensor > 1 && (self.data + self.fsdp + self.zero + self.accumulate / 4).is_multiple_of(2)
    }

    /// Any two of its choices, each with its name.
    pub fn pairs(&self) -> Vec<[(&'static str, usize); 2]> {
        let choices = [
            ("model", self.model),
            ("accumulate", self.accumulate),
            ("schedule", self.schedule),
            ("pipeline", self.pipeline),
            ("tensor", self.tensor),
            ("data", self.data),
            ("fsdp", self.fsdp),
            ("sequence", usize::from(self.sequence())),
            ("zero", self.zero),
        ];
        let of = |at: usize| choices[at + 1..].iter().map(move |&other| [choices[at], other]);
        (0..choices.len()).flat_map(of).collect()
    }

    /// The same update by another schedule.
    #[must_use]
    pub fn by(self, schedule: &str) -> Self {
        let found = SCHEDULES.iter().position(|(word, _)| *word == schedule);
        Self { schedule: found.unwrap_or(self.schedule), ..self }
    }

    /// Its bundle in a precision.
    ///
    /// # Panics
    /// When it does not compile.
    pub fn compile(&self, precision: &str) -> Bundle {
        self.compile_cut(precision, None)
    }

    /// The same.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn try_compile(&self, precision: &str) -> Result<Bundle, Diagnostics> {
        self.try_compile_cut(precision, None)
    }

    /// Its bundle in a precision, cut where `parallel.stages` says.
    ///
    /// # Panics
    /// When it does not compile.
    pub fn compile_cut(&self, precision: &str, stages: Option<&str>) -> Bundle {
        expect(self.try_compile_cut(precision, stages))
    }

    fn try_compile_cut(&self, precision: &str, stages: Option<&str>) -> Result<Bundle, Diagnostics> {
        let (word, chunks) = SCHEDULES[self.schedule];
        let layout = [
            format!("batch={}", ROWS / (self.data * self.fsdp)),
            format!("parallel.pipeline={}", self.pipeline),
            format!("parallel.schedule={word}"),
            format!("parallel.chunks={chunks}"),
            format!("parallel.tensor={}", self.tensor),
            format!("parallel.data={}", self.data),
            format!("parallel.fsdp={}", self.fsdp),
            format!("parallel.sequence={}", self.sequence()),
            format!("parallel.zero={}", self.zero),
            "parallel.fsdp_min_bytes=0".to_owned(),
        ];
        let cuts = stages.map(|stages| format!("parallel.stages={stages}"));
        let layout: Vec<String> = layout.into_iter().chain(cuts).collect();
        compile(self.model, self.accumulate, precision, &layout)
    }

    /// The bundle of one device that makes the same updates.
    ///
    /// # Panics
    /// When it does not compile.
    pub fn compile_alone(&self, precision: &str) -> Bundle {
        expect(compile(self.model, self.accumulate, precision, &[format!("batch={ROWS}")]))
    }
}

/// `pipeline`, `tensor`, `data`, `fsdp` and `zero` of every layout of at most 8 devices with two ranks or one along each axis.
fn shapes() -> Vec<(usize, usize, usize, usize, usize)> {
    let mut all = Vec::new();
    for pipeline in [2, 4] {
        for (tensor, data, fsdp) in [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (2, 2, 1), (2, 1, 2), (1, 2, 2)] {
            let zeros = if data > 1 { 0..4 } else { 0..1 };
            if pipeline * tensor * data * fsdp <= 8 {
                all.extend(zeros.map(|zero| (pipeline, tensor, data, fsdp, zero)));
            }
        }
    }
    all
}

fn compile(model: usize, accumulate: usize, precision: &str, layout: &[String]) -> Result<Bundle, Diagnostics> {
    let (model, sizes) = MODELS[model];
    let input = match model.strip_suffix(".hal") {
        Some(_) => format!("{}/{model}", env!("CARGO_MANIFEST_DIR")),
        None => model.to_owned(),
    };
    let stated = [
        format!("precision={precision}"),
        format!("accumulate.steps={accumulate}"),
        "accumulate.form=\"two\"".to_owned(),
        format!("optimizer.adamw.clip_norm={CLIP}"),
        "optimizer.adamw.lr=0.01".to_owned(),
        "optimizer.ema=0.9".to_owned(),
    ];
    let settings: Vec<String> =
        sizes.iter().map(ToString::to_string).chain(stated).chain(layout.iter().cloned()).collect();
    let mut session = Session::new();
    let source = session.load(&input, &settings)?;
    let bundle = session.compile(&source, &Default::default())?.bundle;
    // As it is read.
    Ok(Bundle::new(bundle.manifest, bundle.files, &session.vocabulary)?)
}

/// The initial state of a bundle with weights that are away from where they would start, the same in each layout.
///
/// # Panics
/// When the manifest is unsound.
pub fn start(bundle: &Bundle, seed: u64) -> Tensors {
    let mut state = expect(init::initial_state(bundle, seed));
    let weights: Vec<String> =
        bundle.manifest.buffers.iter().filter(|buffer| buffer.is_weight()).flat_map(Buffer::tensor_names).collect();
    let all: Vec<(String, HostTensor)> = state.iter().map(|(name, tensor)| (name.clone(), tensor.clone())).collect();
    for (name, tensor) in all {
        let Some(weight) = weights.iter().find(|weight| name == **weight || name == format!("ema.{weight}")) else {
            continue;
        };
        // Numbers follow from the name: buffers are in another order where stages hold them.
        let number = weight.bytes().fold(seed, |number, byte| number.wrapping_mul(31).wrapping_add(byte.into()));
        let moved = uniform(tensor.dtype(), tensor.shape().clone(), -0.2, 0.2, number);
        let sums = tensor.f64s().into_iter().zip(moved.f64s()).map(|(own, by)| own + by);
        state.insert(name, HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), sums));
    }
    state
}

/// The whole batch of an update. Labels are ignored in some places: in all of the second micro-batch, and in others more or fewer.
pub fn batch(manifest: &Manifest, update: usize) -> Tensors {
    let pieces = manifest.micro_batches().unwrap_or(1);
    rows(manifest, pieces, |name, row, column| {
        let number = row * 37 + column * 11 + update * 5 + row * column;
        let is_ignored = row / ROWS == 1 || (2..2 + row % 4).contains(&column);
        match name {
            "attention_mask" => i128::from(column < 5 - row % 3),
            "token_type_ids" => i128::from(column > row % 3),
            "labels" if is_ignored => -100,
            // Where tokens are labels too, an ignored one is an input of the position after it, of which the embedding takes the first row.
            "tokens" if is_ignored && !is_labelled(manifest) => -100,
            _ => (number % 32) as i128,
        }
    })
}

/// One micro-batch, of which most labels count.
pub fn piece(manifest: &Manifest) -> Tensors {
    rows(manifest, 1, |name, row, column| match name {
        "attention_mask" => 1,
        "token_type_ids" => i128::from(column > 2),
        _ => ((row * 7 + column * 5) % 32) as i128,
    })
}

fn is_labelled(manifest: &Manifest) -> bool {
    manifest.buffers.iter().any(|buffer| buffer.name == "labels")
}

fn rows(manifest: &Manifest, pieces: usize, number: impl Fn(&str, usize, usize) -> i128) -> Tensors {
    let fed = manifest.buffers.iter().filter(|buffer| buffer.is_batch() && buffer.content().is_none());
    let tensor = |buffer: &Buffer| {
        let (height, width) = (buffer.shape[0] * pieces, buffer.shape[1]);
        let numbers = (0..height * width).map(|at| number(&buffer.name, at / width, at % width));
        (buffer.name.clone(), HostTensor::from_ints(buffer.dtype, [height, width], numbers))
    };
    fed.map(tensor).collect()
}

/// The results of a bundle from the same start and batches: the state after each update with the metrics of it, and those of an evaluation in the
/// end.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The state after each update.
    pub states: Vec<Tensors>,
    /// The metrics of each update.
    pub metrics: Vec<Metrics>,
    /// The metrics of the evaluation.
    pub eval: Metrics,
}

impl Ran {
    /// Runs updates and an evaluation.
    ///
    /// # Errors
    /// What the step says.
    pub fn of(bundle: &Bundle, start: Tensors, updates: usize) -> Result<Self, Diagnostics> {
        let mut step = TrainStep::load(quick::executor(), bundle)?;
        step.set_state(start)?;
        let (mut states, mut metrics) = (Vec::new(), Vec::new());
        for update in 0..updates {
            metrics.push(step.step(&batch(&bundle.manifest, update))?);
            states.push(step.state()?);
        }
        step.check_replicas()?;
        let eval = step.eval(&piece(&bundle.manifest))?;
        Ok(Self { states, metrics, eval })
    }

    /// The largest difference from another run, relative to the largest number of a tensor, with the name of the number that differs most.
    pub fn apart(&self, other: &Self) -> (f64, String) {
        let mut most = (0.0, String::new());
        let mut seen = |far: f64, name: String| {
            if far.is_nan() || far > most.0 {
                most = (if far.is_nan() { f64::INFINITY } else { far }, name);
            }
        };
        for (update, (own, others)) in self.states.iter().zip(&other.states).enumerate() {
            if own.len() != others.len() {
                seen(f64::INFINITY, format!("the names of the state after update {update}"));
            }
            for (name, tensor) in own {
                let far = others.get(name).map_or(f64::INFINITY, |other| apart(&tensor.f64s(), &other.f64s()));
                seen(far, format!("`{name}` after update {update}"));
            }
        }
        let metrics = self.metrics.iter().chain([&self.eval]).zip(other.metrics.iter().chain([&other.eval]));
        for (update, (own, others)) in metrics.enumerate() {
            for (name, value) in others.iter() {
                let far = own.get(name).map_or(f64::INFINITY, |own| apart(&[own], &[value]));
                seen(far, format!("the metric `{name}` of update {update}"));
            }
        }
        most
    }
}

/// Below this, a number is what rounding leaves of one that is zero, such as a gradient of the biases of keys.
const NOTHING: f64 = 1e-7;

fn apart(found: &[f64], expected: &[f64]) -> f64 {
    let scale = expected.iter().fold(NOTHING, |scale, value| scale.max(value.abs()));
    let far = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs() / scale);
    far.fold(if found.len() == expected.len() { 0.0 } else { f64::INFINITY }, |most, far| {
        if far.is_nan() || most.is_nan() { f64::NAN } else { most.max(far) }
    })
}
