//! Small bundles made by hand, for tests.

use crate::{
    Buffer, Bundle, MANIFEST_VERSION, Manifest, ManifestRules, ModelInfo, ModuleEntry, ModuleRole, Port, PortRole,
    RoundingChoice, Statistics, sha256,
};
use halite_recipe::{AdamW, ModelChoice, NoExtension, Places, PrecisionName, Recipe};
use halite_support::Result;
use halite_tensor::{BufferSlot, DType, Init, Packing, Part, Slot};
use indexmap::IndexMap;

/// The rules of recipes without any target.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTarget;

impl ManifestRules for NoTarget {
    fn check(&self, manifest: &Manifest) -> Result<()> {
        let errors = halite_recipe::check(&manifest.recipe, &Places::default(), &NoExtension);
        errors.into_iter().next().map_or(Ok(()), Err)
    }
}

fn recipe() -> Recipe {
    let precision = PrecisionName::Fp32.precision();
    Recipe { precision, ..Recipe::new(ModelChoice::new("llama"), 2, 3, AdamW::new(1e-3)) }
}

fn port(name: &str, dtype: DType, shape: &[usize], role: PortRole) -> Port {
    Port { name: name.into(), dtype, shape: shape.into(), role, alias: None, ranges: Vec::new() }
}

/// A bundle with the weights `w` and `b`, the moment `m.w`, the counter `step` and one module of 3 bytes.
pub fn small() -> Bundle {
    let buffer = |name: &str, dtype, shape: &[usize], slot, init| Buffer {
        name: name.into(),
        dtype,
        shape: shape.into(),
        slot,
        content: None,
        of: name.strip_prefix("m.").map(str::to_owned),
        init,
        packing: None,
    };
    let zeros = Some(Init::Zeros);
    let buffers = vec![
        buffer("tokens", DType::S32, &[2, 4], BufferSlot::Batch, None),
        buffer("w", DType::F32, &[300, 50], BufferSlot::Weight, Some(Init::Normal { std: 0.02 })),
        buffer("b", DType::F32, &[5], BufferSlot::Weight, Some(Init::Ones)),
        buffer("m.w", DType::F32, &[300, 50], BufferSlot::State(Slot::M), zeros),
        buffer("step", DType::S32, &[], BufferSlot::State(Slot::Step), zeros),
    ];
    let hlo = b"hlo".to_vec();
    let module = ModuleEntry {
        name: "train_step".into(),
        role: ModuleRole::TrainStep,
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
        model: ModelInfo { name: "llama".into(), config: IndexMap::new() },
        recipe: recipe(),
        buffers,
        modules: vec![module],
        schedule: vec!["train_step".into()],
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
    };
    let parts = vec![part("q", &[4, 8], false, 1), part("k", &[2, 8], false, 2), part("v", &[8, 2], true, 1)];
    let buffer = |name: &str, dtype, slot, init| Buffer {
        name: name.into(),
        dtype,
        shape: vec![2, 5, 8],
        slot,
        content: None,
        of: name.split_once('.').map(|(_, of)| of.to_owned()),
        init: Some(init),
        packing: Some(Packing { ranks: 2, parts: parts.clone() }),
    };
    let (normal, zeros) = (Init::Normal { std: 0.5 }, Init::Zeros);
    let mut bundle = small();
    bundle.manifest.buffers.extend([
        buffer("qkv", DType::Bf16, BufferSlot::Weight, normal),
        buffer("m.qkv", DType::F32, BufferSlot::State(Slot::M), zeros),
        buffer("master.qkv", DType::F32, BufferSlot::State(Slot::Master), normal),
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
            of: buffer.of.as_ref().map(|_| part.name.clone()),
            packing: None,
            ..buffer.clone()
        };
        packing.parts.iter().map(part).collect()
    };
    bundle.manifest.buffers = bundle.manifest.buffers.into_iter().flat_map(split).collect();
    bundle
}
