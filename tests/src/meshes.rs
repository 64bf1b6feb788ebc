//! Steps on meshes: models, layouts, and the step of one rank of each.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_hlo::CheckedHlo;
use halite_ir::{Function, Interpreter, Layout, Module, lower, verify};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::{Divides, MeshAxis};
use halite_runtime::Executable;
use halite_support::Result;
use halite_tensor::HostTensor;
use halite_test_kit::xla;

/// A model and its sizes.
pub type Model = (&'static str, &'static [&'static str]);

/// A layout of ranks, and the micro-batches of an update.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ranks {
    /// Ranks along `data`.
    pub data: usize,
    /// Ranks along `fsdp`.
    pub fsdp: usize,
    /// Ranks along `tensor`.
    pub tensor: usize,
    /// Whether activations are sharded along the sequence.
    pub sequence: bool,
    /// The stage of ZeRO.
    pub zero: usize,
    /// Micro-batches of an update.
    pub accumulate: usize,
}

impl Ranks {
    /// A layout without `fsdp`.
    pub const fn of(data: usize, tensor: usize, sequence: bool, zero: usize, accumulate: usize) -> Self {
        Self { data, fsdp: 1, tensor, sequence, zero, accumulate }
    }

    /// The same, with so many ranks along `fsdp`.
    #[must_use]
    pub const fn fsdp(self, fsdp: usize) -> Self {
        Self { fsdp, ..self }
    }
}

/// Up to the step that takes the whole batch.
pub const STEP: &str = "bind-recipe, (cse, simplify, fold-constant, dce)*, fold-causal-mask, fuse-rope, fuse-norm, fuse-activation, fuse-softmax, \
                    coalesce-layers, pad-uneven, place-weights, cse, dce, key-dropout, scale-loss, auto-diff, auto-cast, accumulate, unscale, clip, finite, \
                    adjust-loss-scale, update, cse, dce";

/// The norm that gradients are clipped to: far below that of any model here.
pub const CLIP: f64 = 0.001;

/// Models: with as many key heads as heads, with fewer key heads than ranks, with a merged projection, with biases and tied weights,
/// with a window, with dropout, with documents packed into rows, and encoders with padding and with packed documents. Each has as many
/// heads as the most ranks along `tensor`.
pub const MODELS: [Model; 10] = [
    ("tiny", &["layers=2", "hidden=16", "heads=8", "kv_heads=8", "ffn=24", "vocab=32", "seq=8"]),
    ("tiny", &["layers=2", "hidden=16", "heads=8", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    ("gpt2.hal", &["layers=2", "hidden=16", "heads=8", "positions=8", "vocab=32", "seq=8"]),
    ("qwen2.hal", &["layers=2", "hidden=16", "heads=8", "kv_heads=2", "ffn=24", "vocab=32", "seq=8", "tied=true"]),
    ("mistral.hal", &["layers=2", "hidden=16", "heads=8", "kv_heads=4", "ffn=24", "vocab=32", "seq=8", "window=4"]),
    (
        "gpt2.hal",
        &[
            "layers=1",
            "hidden=16",
            "heads=8",
            "positions=8",
            "vocab=32",
            "seq=8",
            "attn_dropout=0.2",
            "embd_dropout=0.1",
        ],
    ),
    ("tiny", &["layers=1", "hidden=16", "heads=8", "kv_heads=4", "ffn=24", "vocab=32", "seq=8", "packed=true"]),
    ("gpt2.hal", &["layers=1", "hidden=16", "heads=8", "positions=8", "vocab=32", "seq=8", "packed=true"]),
    (
        "bert.hal",
        &["layers=2", "hidden=16", "heads=8", "positions=8", "vocab=32", "seq=8", "typed=true", "padded=true"],
    ),
    (
        "bert.hal",
        &[
            "layers=1",
            "hidden=16",
            "heads=8",
            "positions=8",
            "vocab=32",
            "seq=8",
            "packed=true",
            "attention_dropout=0.2",
            "hidden_dropout=0.1",
        ],
    ),
];

/// Models of `tests/data` whose dimensions no family names, several of which are fed more than tokens.
pub const OTHER_MODELS: [Model; 10] = [
    ("../tests/data/dropout.hal", &["vocab=32", "hidden=8", "seq=8"]),
    ("../tests/data/labelled.hal", &["seq=8"]),
    ("../tests/data/masked.hal", &["vocab=32"]),
    (
        "../tests/data/mixtral.hal",
        &["vocab=32", "hidden=16", "layers=1", "heads=8", "kv_heads=2", "ffn=16", "experts=4", "seq=8"],
    ),
    ("../tests/data/parallel_block.hal", &["vocab=32", "hidden=16", "heads=8"]),
    ("../tests/data/retention.hal", &["heads=8"]),
    ("../tests/data/shared_layers.hal", &["vocab=32", "heads=8"]),
    ("../tests/data/spelled.hal", &["vocab=32", "hidden=16", "layers=2", "heads=8", "kv_heads=2", "ffn=24", "seq=8"]),
    ("../tests/data/two_heads.hal", &["inner=24"]),
    ("../tests/data/unscoped.hal", &["vocab=32"]),
];

/// Both.
pub const ALL_MODELS: [Model; 20] = {
    let mut all = [MODELS[0]; 20];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < MODELS.len() { MODELS[at] } else { OTHER_MODELS[at - MODELS.len()] };
        at += 1;
    }
    all
};

/// Layouts that multiply to 2, 4 and 8, so that any two choices meet.
pub const LAYOUTS: [Ranks; 12] = [
    Ranks::of(2, 1, false, 0, 1),
    Ranks::of(1, 2, false, 0, 2),
    Ranks::of(1, 2, true, 0, 1),
    Ranks::of(1, 4, true, 1, 2),
    Ranks::of(2, 1, true, 1, 2),
    Ranks::of(2, 2, false, 1, 1),
    Ranks::of(4, 2, true, 1, 1),
    Ranks::of(2, 4, false, 0, 2),
    Ranks::of(2, 4, true, 0, 1),
    Ranks::of(1, 1, false, 0, 2).fsdp(4),
    Ranks::of(2, 2, true, 3, 1),
    Ranks::of(2, 1, false, 2, 1).fsdp(2),
];

/// Every layout of 2, 4 and 8 ranks: `sequence` off and on where there are ranks along `tensor`, each stage of ZeRO where there are along
/// `data`. Elsewhere these say nothing.
pub fn shapes(accumulate: usize) -> Vec<Ranks> {
    let mut all = Vec::new();
    for ranks in [2usize, 4, 8] {
        let powers = || (0..=ranks.ilog2()).map(|power| 1usize << power);
        let sizes = powers().flat_map(|tensor| powers().map(move |fsdp| (fsdp, tensor)));
        for (fsdp, tensor) in sizes.filter(|(fsdp, tensor)| fsdp * tensor <= ranks) {
            let data = ranks / (fsdp * tensor);
            for sequence in [false, true].into_iter().take(tensor.min(2)) {
                let zeros = if data > 1 { 0..4 } else { 0..1 };
                all.extend(zeros.map(|zero| Ranks { data, fsdp, tensor, sequence, zero, accumulate }));
            }
        }
    }
    all
}

/// A model with its recipe, and the session that loaded it.
#[derive(Debug)]
pub struct Loaded {
    /// The session, which has the passes.
    pub session: Session,
    /// The model and its recipe.
    pub source: Source,
}

impl Loaded {
    /// A model with its sizes and these settings of its recipe.
    ///
    /// # Panics
    /// When it does not load.
    pub fn new((model, sizes): Model, settings: &[String]) -> Self {
        let input = if model.ends_with(".hal") {
            format!("{}/../models/{model}", env!("CARGO_MANIFEST_DIR"))
        } else {
            model.into()
        };
        let settings: Vec<String> = sizes.iter().map(ToString::to_string).chain(settings.iter().cloned()).collect();
        let mut session = Session::new();
        let source = session.load(&input, &settings).unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
        Self { session, source }
    }

    /// The module of the model after some passes.
    ///
    /// # Panics
    /// When it is not built, or a pass fails.
    pub fn made(&self, passes: &str) -> Module {
        let built = self.session.elaborate(&self.source).unwrap_or_else(|errors| panic!("{errors:?}"));
        self.after(built.module, passes)
    }

    /// A module after some passes.
    ///
    /// # Panics
    /// When one fails.
    pub fn after(&self, module: Module, passes: &str) -> Module {
        self.try_after(module, passes).unwrap_or_else(|error| panic!("{passes}: {error}"))
    }

    /// The same, where a pass may fail.
    ///
    /// # Errors
    /// An error of a pass.
    pub fn try_after(&self, mut module: Module, passes: &str) -> Result<Module> {
        let pipeline = self.session.passes.parse(passes)?;
        let cx = self.session.pass_cx(Some(&self.source.recipe), None)?;
        Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx)?;
        Ok(module)
    }

    /// Evaluates a module on one device, on whole inputs.
    ///
    /// # Errors
    /// When an instruction cannot be evaluated.
    pub fn alone(&self, module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        Interpreter::of(module, &self.session.registry).run(entry(module), inputs.to_vec())
    }

    /// Evaluates a module on all ranks, from whole inputs to whole results, by the interpreter.
    ///
    /// # Errors
    /// When an instruction cannot be evaluated, or ranks that should give the same do not.
    pub fn on_ranks(&self, module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        let interpreter = Interpreter::of(module, &self.session.registry);
        together(module, inputs, |ranks| interpreter.run_ranks(entry(module), ranks))
    }

    /// A legal module of one rank as its target takes it, compiled for the virtual devices of CPU XLA.
    ///
    /// # Panics
    /// When it is not lowered, or XLA does not take it.
    pub fn on_xla(&self, module: &Module) -> Box<dyn Executable> {
        let recipe = &self.source.recipe;
        let target = self.session.vocabulary.targets.get(&recipe.target).unwrap_or_else(|error| panic!("{error}"));
        let options = CompileOptions::default().for_target(target, recipe).lower;
        let verified = verify(module, &self.session.registry).unwrap_or_else(|errors| panic!("{errors}"));
        let hlo = lower(verified, &self.session.sources, options).unwrap_or_else(|error| panic!("{error}"));
        let hlo = CheckedHlo::new(hlo).unwrap_or_else(|broken| panic!("{broken:?}"));
        xla::compile(&hlo.encode(), layout(module).mesh.num_ranks()).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Runs ranks on whole inputs, each on its part, by `run` from `inputs[rank][parameter]` to `results[rank][result]`; returns whole
/// results.
///
/// # Errors
/// An error of `run`, or when ranks that should give the same do not.
pub fn together(
    module: &Module,
    inputs: &[HostTensor],
    run: impl FnOnce(Vec<Vec<HostTensor>>) -> Result<Vec<Vec<HostTensor>>>,
) -> Result<Vec<HostTensor>> {
    let (layout, entry) = (layout(module), entry(module));
    let ranks = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(entry, inputs, rank));
    layout.assemble(entry, &run(ranks.collect::<Result<Vec<_>>>()?)?)
}

/// The settings of a recipe for a layout and a precision, with a clip that bites, of 4 sequences in each micro-batch of all ranks, or
/// one for each.
pub fn settings(ranks: Ranks, precision: &str) -> Vec<String> {
    let Ranks { data, fsdp, tensor, .. } = ranks;
    let degrees =
        [format!("parallel.data={data}"), format!("parallel.fsdp={fsdp}"), format!("parallel.tensor={tensor}")];
    [stated(ranks, precision), degrees.to_vec()].concat()
}

/// The same for two ranks along each of these axes, with shares of the sequence and of the state, and two micro-batches.
pub fn along(axes: &[MeshAxis], precision: &str) -> Vec<String> {
    let data = axes.iter().filter(|axis| axis.divides() == Divides::Batch).map(|_| 2).product();
    let degrees = axes.iter().map(|axis| format!("{}=2", axis.key()));
    stated(Ranks::of(data, 1, true, 1, 2), precision).into_iter().chain(degrees).collect()
}

/// The settings beside the degrees of axes. Weights are stored in shards however small they are.
fn stated(Ranks { data, fsdp, sequence, zero, accumulate, .. }: Ranks, precision: &str) -> Vec<String> {
    let replicas = data * fsdp;
    vec![
        format!("precision={precision}"),
        format!("batch={}", replicas.max(4) / replicas),
        format!("parallel.sequence={sequence}"),
        format!("parallel.zero={zero}"),
        "parallel.fsdp_min_bytes=0".to_owned(),
        format!("accumulate={accumulate}"),
        format!("optimizer.adamw.clip_norm={CLIP}"),
    ]
}

/// A step of one rank with the step of one device that it was made of.
#[derive(Debug)]
pub struct OnMesh {
    /// The model.
    pub loaded: Loaded,
    /// The step of one device.
    pub whole: Module,
    /// The step of one rank.
    pub local: Module,
}

impl OnMesh {
    /// The step of a model in `f64`, with a clip that bites.
    ///
    /// # Panics
    /// When it does not compile.
    pub fn new(model: Model, ranks: Ranks) -> Self {
        Self::with_precision(model, ranks, "fp64")
    }

    /// The same in another precision.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn with_precision(model: Model, ranks: Ranks, precision: &str) -> Self {
        Self::of(Loaded::new(model, &settings(ranks, precision)))
    }

    /// The same in `f64` with more settings of the recipe.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn with_settings(model: Model, ranks: Ranks, own: &[&str]) -> Self {
        let own = own.iter().map(|&setting| setting.to_owned());
        Self::of(Loaded::new(model, &settings(ranks, "fp64").into_iter().chain(own).collect::<Vec<_>>()))
    }

    fn of(loaded: Loaded) -> Self {
        let whole = loaded.made(STEP);
        let local = loaded.after(whole.clone(), "partition");
        Self { loaded, whole, local }
    }
}

/// The entry of a step.
///
/// # Panics
/// When there is none.
pub fn entry(module: &Module) -> &Function {
    module.entry().expect("a step has an entry")
}

/// The layout of a step of one rank.
///
/// # Panics
/// When it is that of one device.
pub fn layout(module: &Module) -> &Layout {
    module.layout.as_ref().expect("a step of a rank has a layout")
}

/// Has most labels of the first sequence not count, so that ranks count differently.
///
/// # Panics
/// When a step is fed neither labels nor tokens.
pub fn ignore_labels(entry: &Function, inputs: &mut [HostTensor]) {
    let fed = |name| entry.params.iter().position(|param| &*param.name == name);
    let labels = &mut inputs[fed("labels").or_else(|| fed("tokens")).expect("a step has labels")];
    let row = labels.shape()[1];
    let mut ids = labels.ints();
    for id in &mut ids[2..row] {
        *id = -100;
    }
    // Where tokens are labels too, an ignored one is an input of the position after it: there the embedding clamps it, on all ranks alike.
    *labels = HostTensor::from_ints(labels.dtype(), labels.shape().clone(), ids);
}
