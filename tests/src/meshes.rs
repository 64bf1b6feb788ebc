//! Steps on meshes: models, layouts, and the step of one rank of each.

use halite::Session;
use halite::source::Source;
use halite_ir::{Function, Interpreter, Layout, Module};
use halite_passes::{Runner, RunnerOptions};
use halite_support::Result;
use halite_tensor::HostTensor;

/// A model and its sizes.
pub type Model = (&'static str, &'static [&'static str]);

/// Ranks of `data` and `tensor`, `sequence`, `zero`, `accumulate`.
pub type Ranks = (usize, usize, bool, usize, usize);

/// Up to the step that takes the whole batch.
pub const STEP: &str = "bind-recipe, (cse, simplify, fold-constant, dce)*, fold-causal-mask, fuse-rope, fuse-norm, fuse-activation, fuse-softmax, \
                    coalesce-layers, pad-uneven, cse, dce, key-dropout, scale-loss, auto-diff, auto-cast, accumulate, unscale, clip, finite, \
                    adjust-loss-scale, update, cse, dce";

/// Models: with as many key heads as heads, with fewer key heads than ranks, with a merged projection, with biases and tied weights, with dropout.
pub const MODELS: [Model; 6] = [
    ("tiny", &["layers=2", "hidden=16", "heads=4", "kv_heads=4", "ffn=24", "vocab=32", "seq=8"]),
    ("tiny", &["layers=2", "hidden=32", "heads=8", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    ("gpt2.hal", &["layers=2", "hidden=16", "heads=4", "positions=8", "vocab=32", "seq=8"]),
    ("qwen2.hal", &["layers=2", "hidden=32", "heads=8", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    ("mistral.hal", &["layers=2", "hidden=16", "heads=4", "kv_heads=2", "ffn=24", "vocab=32", "seq=8"]),
    (
        "gpt2.hal",
        &[
            "layers=1",
            "hidden=16",
            "heads=4",
            "positions=8",
            "vocab=32",
            "seq=8",
            "attn_dropout=0.2",
            "embd_dropout=0.1",
        ],
    ),
];

/// Layouts that multiply to 2, 4 and 8, so that any two choices meet.
pub const LAYOUTS: [Ranks; 9] = [
    (2, 1, false, 0, 1),
    (1, 2, false, 0, 2),
    (1, 2, true, 0, 1),
    (1, 4, true, 1, 2),
    (2, 1, true, 1, 2),
    (2, 2, false, 1, 1),
    (4, 2, true, 1, 1),
    (2, 4, false, 0, 2),
    (2, 4, true, 0, 1),
];

/// A model with its recipe, and what knows the passes.
#[derive(Debug)]
pub struct Loaded {
    /// What knows the passes.
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
    pub fn after(&self, mut module: Module, passes: &str) -> Module {
        let pipeline = self.session.passes.parse(passes).unwrap_or_else(|error| panic!("{error}"));
        let cx = self.session.pass_cx(Some(&self.source.recipe), None).unwrap_or_else(|error| panic!("{error}"));
        let done = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
        done.unwrap_or_else(|error| panic!("{passes}: {error}"));
        module
    }

    /// What one device makes of inputs.
    ///
    /// # Errors
    /// When an instruction cannot be evaluated.
    pub fn alone(&self, module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        Interpreter::of(module, &self.session.registry).run(entry(module), inputs.to_vec())
    }

    /// What all ranks make of whole inputs.
    ///
    /// # Errors
    /// When an instruction cannot be evaluated, or ranks that should give the same do not.
    pub fn on_ranks(&self, module: &Module, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
        let (layout, entry) = (layout(module), entry(module));
        let ranks = (0..layout.mesh.num_ranks()).map(|rank| layout.shard(entry, inputs, rank));
        let results =
            Interpreter::of(module, &self.session.registry).run_ranks(entry, ranks.collect::<Result<Vec<_>>>()?)?;
        layout.assemble(entry, &results)
    }
}

/// The settings of a recipe for a layout and a precision, with a clip that bites, of 4 sequences in each micro-batch of all ranks.
pub fn settings((data, tensor, sequence, zero, accumulate): Ranks, precision: &str) -> Vec<String> {
    vec![
        format!("precision={precision}"),
        format!("batch={}", 4 / data),
        format!("parallel.data={data}"),
        format!("parallel.tensor={tensor}"),
        format!("parallel.sequence={sequence}"),
        format!("parallel.zero={zero}"),
        format!("accumulate={accumulate}"),
        "optimizer.adamw.clip_norm=0.01".to_owned(),
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
        let loaded = Loaded::new(model, &settings(ranks, precision));
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

/// How a step of one rank lies.
///
/// # Panics
/// When it is that of one device.
pub fn layout(module: &Module) -> &Layout {
    module.layout.as_ref().expect("a step of a rank has a layout")
}

/// Has most labels of the first sequence not count, so that ranks count differently.
pub fn ignore_labels(tokens: &mut HostTensor) {
    let row = tokens.shape()[1];
    let mut ids = tokens.ints();
    for id in &mut ids[2..row] {
        *id = -100;
    }
    // An ignored label is an input of the position after it, where the embedding clamps it, on all ranks alike.
    *tokens = HostTensor::from_ints(tokens.dtype(), tokens.shape().clone(), ids);
}
