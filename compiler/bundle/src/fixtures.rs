//! Small bundles made by hand, for tests.

use crate::{
    Action, Buffer, BufferRole, Bundle, MANIFEST_VERSION, Manifest, ManifestRules, ModelInfo, ModuleEntry, ModuleRole,
    Port, PortRole, RoundingChoice, Statistics, sha256,
};
use halite_recipe::{Extension, ModelChoice, Optimizer, Places, PrecisionName, Recipe, Schedule, Section};
use halite_support::{Diagnostics, Result};
use halite_tensor::{DType, Init, Mesh, Packing, Part, STEP, StateSpec};
use indexmap::IndexMap;

/// The rules of recipes without any target.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTarget;

impl ManifestRules for NoTarget {
    fn check(&self, manifest: &Manifest) -> Result<()> {
        let errors = halite_recipe::check(&manifest.recipe, &Places::default(), self);
        errors.into_iter().next().map_or(Ok(()), Err)
    }
}

static ADAMW: Section = Section { name: "adamw", about: "what a test knows", keys: &[], check: |_| Diagnostics::new() };

static COSINE: Section =
    Section { name: Schedule::COSINE, about: "what a test knows", keys: &[], check: |_| Diagnostics::new() };

/// An update rule and a shape without settings.
impl Extension for NoTarget {
    fn targets(&self) -> Vec<&str> {
        vec!["cpu"]
    }

    fn sections(&self) -> Vec<&'static Section> {
        Vec::new()
    }

    fn rules(&self) -> Vec<&'static Section> {
        vec![&ADAMW]
    }

    fn shapes(&self) -> Vec<&'static Section> {
        vec![&COSINE]
    }
}

fn recipe() -> Recipe {
    let precision = PrecisionName::Fp32.precision();
    Recipe { precision, ..Recipe::new(ModelChoice::new("llama"), 2, 3, Optimizer::new("adamw", 1e-3)) }
}

fn port(name: &str, dtype: DType, shape: &[usize], role: PortRole) -> Port {
    Port { name: name.into(), dtype, shape: shape.into(), sharding: None, role, alias: None, ranges: Vec::new() }
}

/// A bundle with the weights `w` and `b`, the moment `m.w`, the counter `step` and one module of 3 bytes.
pub fn small() -> Bundle {
    let buffer = |name: &str, dtype, shape: &[usize], role| Buffer {
        name: name.into(),
        dtype,
        shape: shape.into(),
        role,
        packing: None,
        sharding: None,
    };
    let buffers = vec![
        buffer("tokens", DType::S32, &[2, 4], BufferRole::Batch(None)),
        buffer("w", DType::F32, &[300, 50], BufferRole::Weight(Init::Normal { std: 0.02 })),
        buffer("b", DType::F32, &[5], BufferRole::Weight(Init::Ones)),
        buffer("m.w", DType::F32, &[300, 50], BufferRole::State(StateSpec::new("m").of("w"))),
        buffer("step", DType::S32, &[], BufferRole::State(StateSpec::new(STEP))),
    ];
    let hlo = b"hlo".to_vec();
    let module = ModuleEntry {
        name: "train_step".into(),
        role: ModuleRole::TRAIN_STEP,
        stage: 0,
        file: "train_step.hlo.pb".into(),
        sha256: sha256(&hlo),
        inputs: vec![
            port("tokens", DType::S32, &[2, 4], PortRole::Buffer),
            port("b", DType::F32, &[5], PortRole::Buffer),
        ],
        outputs: vec![
            Port { alias: Some(1), ..port("b", DType::F32, &[5], PortRole::Buffer) },
            port("loss", DType::F32, &[], PortRole::Metric),
        ],
        estimate: None,
        decompositions: Vec::new(),
    };
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        model: ModelInfo { name: "llama".into(), sha256: sha256(b"llama"), config: IndexMap::new() },
        recipe: recipe(),
        mesh: Mesh::default(),
        buffers,
        modules: vec![module],
        schedule: vec![vec![Action::Run { module: "train_step".into(), pieces: Some(0..1) }]],
        roles: IndexMap::new(),
        transfers: Vec::new(),
        rounding: RoundingChoice::of(&recipe().precision),
        environment: IndexMap::new(),
        flags: Vec::new(),
        launch: None,
        platform: None,
        statistics: Statistics::default(),
    };
    Bundle { manifest, files: [("train_step.hlo.pb".to_owned(), hlo)].into_iter().collect() }
}

/// The small bundle with a weight in `bf16` that stores three of the model for two ranks, one of them twice and one
/// transposed; its master and its moment are stored likewise.
pub fn packed() -> Bundle {
    let part = |name: &str, shape: &[usize], transposed, copies| Part {
        name: name.into(),
        shape: shape.into(),
        transposed,
        copies,
        padding: 0,
    };
    let parts = vec![part("q", &[4, 8], false, 1), part("k", &[2, 8], false, 2), part("v", &[8, 2], true, 1)];
    let buffer = |name: &str, dtype, role| Buffer {
        name: name.into(),
        dtype,
        shape: vec![2, 5, 8],
        role,
        packing: Some(Packing { ranks: 2, parts: parts.clone() }),
        sharding: None,
    };
    let state = |kind: &str, init| BufferRole::State(StateSpec::new(kind).of("qkv").init(init));
    let mut bundle = small();
    bundle.manifest.buffers.extend([
        buffer("qkv", DType::Bf16, BufferRole::Weight(Init::Normal { std: 0.5 })),
        buffer("m.qkv", DType::F32, state("m", Init::Zeros)),
        buffer("master.qkv", DType::F32, state("master", Init::Weight)),
    ]);
    bundle
}

/// The packed bundle with each tensor of the model stored on its own.
pub fn apart() -> Bundle {
    let mut bundle = packed();
    let split = |buffer: Buffer| -> Vec<Buffer> {
        let Some(packing) = &buffer.packing else { return vec![buffer] };
        let part = |part: &Part| Buffer {
            name: buffer.name.replace("qkv", &part.name),
            shape: part.shape.clone(),
            role: match buffer.role.clone() {
                BufferRole::State(spec) => BufferRole::State(spec.of(part.name.as_str())),
                role => role,
            },
            packing: None,
            ..buffer.clone()
        };
        packing.parts.iter().map(part).collect()
    };
    bundle.manifest.buffers = bundle.manifest.buffers.into_iter().flat_map(split).collect();
    bundle
}
