//! The front doors for Hugging Face's checkpoints against Transformers itself; see `hugging_face/README.md`.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::compile::{CompileOptions, Compiled};
use halite::convert::{has_own_types, to_dtype, to_model, to_own_types, to_stored};
use halite::execute::LoadedModule;
use halite::hugging_face::adopt;
use halite::session::Session;
use halite::source::{self, Source};
use halite::tensors::{self, Tensors};
use halite::{render, shards};
use halite_ir::ParamRole;
use halite_spec::{Manifest, ModuleRole};
use halite_support::Diagnostics;
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use halite_tests::tolerances::HUGGING_FACE_LOGITS;
use halite_tests::xla;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hugging_face")
}

fn config(model: &str) -> String {
    folder().join(format!("configs/{model}.json")).display().to_string()
}

fn fixture(case: &str) -> PathBuf {
    folder().join("fixtures").join(case)
}

fn load(input: &str, overrides: &[&str], session: &mut Session) -> Source {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let loaded = source::load(input, &overrides, &mut session.sources);
    loaded.unwrap_or_else(|errors| panic!("{input}: {errors:?}"))
}

fn compile(input: &str, overrides: &[&str], roles: &[ModuleRole]) -> Compiled {
    let mut session = Session::new();
    let source = load(input, overrides, &mut session);
    let options = CompileOptions { roles: roles.to_vec(), ..CompileOptions::default() };
    session.compile(&source, &options).unwrap_or_else(|errors| panic!("{input}: {errors:?}"))
}

/// What Transformers says of the published configurations.
#[derive(Deserialize)]
struct Parameters {
    models: BTreeMap<String, Published>,
}

#[derive(Deserialize)]
struct Published {
    parameters: u64,
    layers: usize,
    /// By name, with `*` for the number of the layer.
    shapes: BTreeMap<String, Vec<usize>>,
}

impl Published {
    fn names(&self) -> BTreeMap<String, Vec<usize>> {
        let mut names = BTreeMap::new();
        for (pattern, shape) in &self.shapes {
            let layers = if pattern.contains('*') { self.layers } else { 1 };
            names.extend((0..layers).map(|layer| (pattern.replace('*', &layer.to_string()), shape.clone())));
        }
        names
    }
}

/// Parameters of the published checkpoints. Those in `bf16` are half the `total_size` of `model.safetensors.index.json` in the
/// repositories `meta-llama/Llama-3.1-8B` (16,060,522,496), `mistralai/Mistral-7B-v0.1` (14,483,464,192) and
/// `Qwen/Qwen2.5-7B` (15,231,233,024); Llama 2 is the model of table 1 of arXiv:2307.09288, GPT-2 the small one of the
/// document `openai-community/gpt2`, "124M parameters".
const PUBLISHED: [(&str, u64); 5] = [
    ("gpt2", 124_439_808),
    ("llama-2-7b", 6_738_415_616),
    ("llama-3.1-8b", 16_060_522_496 / 2),
    ("mistral-7b-v0.1", 14_483_464_192 / 2),
    ("qwen2.5-7b", 15_231_233_024 / 2),
];

#[test]
fn parameters_are_those_of_the_published_models() {
    let text = std::fs::read_to_string(folder().join("parameters.json")).expect("the file is in the repository");
    let known: Parameters = serde_json::from_str(&text).expect("the file has this form");
    assert_eq!(known.models.keys().collect::<Vec<_>>(), PUBLISHED.map(|(model, _)| model).iter().collect::<Vec<_>>());
    for (model, count) in PUBLISHED {
        let published = &known.models[model];
        let mut session = Session::new();
        let source = load(&config(model), &[], &mut session);
        let elaborated = session.elaborate(&source).unwrap_or_else(|errors| panic!("{model}: {errors:?}"));
        let entry = elaborated.module.entry().expect("a model has an entry");
        let weights = entry.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
        let found: BTreeMap<_, _> =
            weights.map(|param| (param.name.to_string(), entry.ty(param.value).shape().to_vec())).collect();
        assert_eq!(found, published.names(), "{model}");
        let total: usize = found.values().map(|shape| shape.iter().product::<usize>()).sum();
        assert_eq!((total as u64, published.parameters), (count, count), "{model}");
    }
}

/// The tensors of a fixture as a bundle stores them, and its checkpoint under the names of the model.
fn weights(case: &str, manifest: &Manifest) -> (Tensors, Tensors) {
    let read = shards::read(&fixture(case)).unwrap_or_else(|errors| panic!("{case}: {errors:?}"));
    let checkpoint = adopt(manifest, read).unwrap_or_else(|error| panic!("{case}: {error}"));
    let mut widened = checkpoint.clone();
    to_own_types(manifest, &mut widened).unwrap_or_else(|errors| panic!("{case}: {errors:?}"));
    (to_stored(manifest, widened).unwrap_or_else(|errors| panic!("{case}: {errors:?}")), checkpoint)
}

const SETTINGS: [&str; 3] = ["batch=2", "seq=16", "precision=fp32"];

fn compile_fixture(case: &str, role: ModuleRole) -> Compiled {
    compile(&fixture(case).join("config.json").display().to_string(), &SETTINGS, &[role])
}

fn assert_logits(case: &str) {
    let expected = tensors::read(&fixture(case).join("expected.safetensors")).expect("the file is in the repository");
    let compiled = compile_fixture(case, ModuleRole::Forward);
    let manifest = &compiled.bundle.manifest;
    let (mut inputs, _) = weights(case, manifest);
    inputs.insert("tokens".to_owned(), expected["tokens"].clone());
    let entry = compiled.bundle.module_with_role(ModuleRole::Forward).expect("it was asked for");
    let module = LoadedModule::load(xla::client(), &compiled.bundle, entry).unwrap_or_else(|error| panic!("{error}"));
    inputs.retain(|name, _| module.entry().inputs.iter().any(|port| port.name == *name));
    let outputs = module.run(xla::client(), inputs).unwrap_or_else(|errors| panic!("{errors:?}"));
    let apart = difference(&outputs["logits"], &expected["logits"]);
    println!("{case}: logits are off by {:e}, at most {:.2}", apart.max_abs, apart.scale);
    assert!(apart.max_abs <= HUGGING_FACE_LOGITS, "{case}: the logits are off by {:e}", apart.max_abs);
}

/// Through the training step's layout, where projections are merged, and files of at most 8 kB.
fn assert_round_trip(case: &str) {
    let compiled = compile_fixture(case, ModuleRole::TrainStep);
    let manifest = &compiled.bundle.manifest;
    let (stored, checkpoint) = weights(case, manifest);
    let mut back = to_model(manifest, stored).unwrap_or_else(|errors| panic!("{errors:?}"));
    let dtype = checkpoint.values().next().expect("there are weights").dtype();
    to_dtype(manifest, &mut back, dtype);
    let output = tempfile::tempdir().expect("a temporary folder");
    let written = shards::write(&output.path().join("model.safetensors"), &back, 8000).expect("it can be written");
    assert!(written.ends_with("model.safetensors.index.json"), "{}", written.display());
    let read = shards::read(output.path()).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(read, shards::read(&fixture(case)).expect("the fixture reads"), "{case}");
}

macro_rules! cases {
    ($($case:ident),*) => {$(
        mod $case {
            #[test]
            fn logits_are_those_of_transformers() {
                super::assert_logits(stringify!($case));
            }

            #[test]
            fn weights_come_back_bit_for_bit() {
                super::assert_round_trip(stringify!($case));
            }
        }
    )*};
}

cases!(gpt2, llama, llama3, llama_linear, mistral, qwen2);

/// The same model by name and by `config.json`.
#[test]
fn a_config_compiles_to_the_bytes_of_the_recipe_it_stands_for() {
    let roles = [ModuleRole::TrainStep, ModuleRole::Forward, ModuleRole::Eval];
    for (model, name, settings) in [
        ("llama-2-7b", "llama", &["init_std=0.02", "kv_heads=32"][..]),
        ("llama-3.1-8b", "llama3", &[]),
        ("mistral-7b-v0.1", "mistral", &[]),
        ("qwen2.5-7b", "qwen2", &[]),
        ("gpt2", "gpt2", &[]),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let recipe = folder.path().join("recipe.toml");
        let named = |model: &str| {
            format!("halite = 1\nbatch = 1\nseq = 64\nmodel.name = {model:?}\noptimizer.adamw.lr = 1e-3\n")
        };
        let small = ["layers=1"];
        let mut settings = settings.to_vec();
        settings.extend(small);
        let recipe_path = recipe.to_str().expect("the path is text");
        std::fs::write(&recipe, named(name)).expect("the folder can be written");
        let by_name = compile(recipe_path, &settings, &roles).bundle;
        std::fs::write(&recipe, named(&config(model))).expect("the folder can be written");
        let by_config = compile(recipe_path, &small, &roles).bundle;
        assert!(by_name.files.keys().any(|file| file.ends_with(".hlo.pb")));
        assert!(by_name.files == by_config.files, "{model}: other bytes than `{name}`");
        assert_eq!(by_config.manifest.model, by_name.manifest.model, "{model}");
    }
}

/// Every mistake of a changed `config.json`, one line each.
fn mistakes(model: &str, change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) -> Vec<String> {
    let text = std::fs::read_to_string(config(model)).expect("the file is in the repository");
    let mut value: serde_json::Map<_, _> = serde_json::from_str(&text).expect("it is JSON");
    change(&mut value);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("config.json");
    std::fs::write(&path, serde_json::to_string_pretty(&value).expect("it is JSON")).expect("it can be written");
    let mut session = Session::new();
    let loaded = source::load(path.to_str().expect("the path is text"), &[], &mut session.sources);
    let errors: Diagnostics = loaded.err().unwrap_or_default();
    assert!(errors.iter().all(|error| error.primary().is_some() && error.help_text().is_some()), "{errors:?}");
    assert!(errors.iter().all(|error| !render::report(error, &session.sources, render::Style::default()).is_empty()));
    errors.iter().map(|error| error.message().to_owned()).collect()
}

#[test]
fn what_changes_the_computation_is_refused() {
    let set = |model: &str, key: &str, value: serde_json::Value| {
        mistakes(model, |config| _ = config.insert(key.into(), value))
    };
    assert_eq!(set("llama-3.1-8b", "use_cache", false.into()), [""; 0]);
    let unknown = "unknown key `residual_scale`: it may change what the model computes";
    assert_eq!(set("llama-2-7b", "residual_scale", 0.5.into()), [unknown]);
    let biased = "`attention_bias` is `true`, Halite computes this model with `false`";
    assert_eq!(set("llama-3.1-8b", "attention_bias", true.into()), [biased]);
    let window = "`use_sliding_window` is `true`, Halite computes this model with `false`";
    assert_eq!(set("qwen2.5-7b", "use_sliding_window", true.into()), [window]);
    let gelu = "`activation_function` is `\"gelu\"`, Halite computes this model with `\"gelu_new\"`";
    assert_eq!(set("gpt2", "activation_function", "gelu".into()), [gelu]);
    let head =
        "`architectures` is `[\"GPT2DoubleHeadsModel\"]`, Halite computes this model with `[\"GPT2LMHeadModel\"]`";
    assert_eq!(set("gpt2", "architectures", serde_json::json!(["GPT2DoubleHeadsModel"])), [head]);
    let dynamic = "rotary positions of the type `dynamic` are not among those of this model";
    let scaling = |kind: &str| serde_json::json!({"rope_type": kind, "factor": 2.0});
    assert_eq!(set("llama-2-7b", "rope_scaling", scaling("dynamic")), [dynamic]);
    let linear = "rotary positions of the type `linear` are not among those of this model";
    assert_eq!(set("mistral-7b-v0.1", "rope_scaling", scaling("linear")), [linear]);
    let inner = "unknown key `low_freq_factor`: it may change what the model computes";
    let mixed = serde_json::json!({"type": "linear", "factor": 2.0, "low_freq_factor": 1.0});
    assert_eq!(set("llama-2-7b", "rope_scaling", mixed), [inner]);
    assert_eq!(
        set("llama-2-7b", "model_type", "gemma".into()),
        ["there is no built-in model for `model_type` \"gemma\""]
    );
    let several = mistakes("llama-2-7b", |config| {
        config.remove("hidden_size");
        config.insert("vocab_size".into(), serde_json::Value::Null);
        config.insert("num_hidden_layers".into(), "many".into());
    });
    let expected = [
        "`num_hidden_layers` is \"many\", expected a number, `true` or `false`",
        "`vocab_size` is `null`",
        "`hidden_size` is missing",
    ];
    assert_eq!(several, expected);
}

#[test]
fn dropout_is_left_out_aloud() {
    let compiled = compile(&config("gpt2"), &["layers=1"], &[ModuleRole::Eval]);
    let warnings: Vec<_> = compiled.warnings.iter().map(|warning| warning.message().to_owned()).collect();
    let expected =
        ["attn_pdrop", "embd_pdrop", "resid_pdrop"].map(|key| format!("`{key}` is 0.1, but training has no dropout"));
    assert_eq!(warnings, expected);
}

/// A checkpoint as the inner module of GPT-2 was saved long ago: no name before the others, masks among the parameters, and
/// the embedding once more.
#[test]
fn older_names_are_adopted() {
    let compiled = compile_fixture("gpt2", ModuleRole::TrainStep);
    let manifest = &compiled.bundle.manifest;
    let (_, checkpoint) = weights("gpt2", manifest);
    let short = |name: &String| name.strip_prefix("transformer.").expect("the name of the inner module").to_owned();
    let mut old: Tensors = checkpoint.iter().map(|(name, tensor)| (short(name), tensor.clone())).collect();
    old.insert("h.0.attn.bias".to_owned(), HostTensor::zeros(DType::U8, [1, 1, 24, 24]));
    old.insert("lm_head.weight".to_owned(), old["wte.weight"].clone());
    let mut adopted = adopt(manifest, old.clone()).unwrap_or_else(|error| panic!("{error}"));
    adopted.sort_keys();
    assert_eq!(adopted, checkpoint);
    old.insert("lm_head.weight".to_owned(), old["wpe.weight"].clone());
    let error = adopt(manifest, old).expect_err("another output projection is another model");
    assert!(error.message().starts_with("`lm_head.weight` is not `transformer.wte.weight`"), "{error}");
}

#[test]
fn weights_are_rounded_only_when_asked() {
    let compiled = compile_fixture("llama", ModuleRole::TrainStep);
    let narrow = &mut compiled.bundle.manifest.clone();
    narrow.buffers.iter_mut().for_each(|buffer| buffer.dtype = DType::Bf16);
    let (_, mut checkpoint) = weights("llama", &compiled.bundle.manifest);
    let errors = to_own_types(narrow, &mut checkpoint.clone()).expect_err("f32 does not fit in bf16");
    assert_eq!(errors[0].message(), "the weight `model.embed_tokens.weight` is `f32`, the bundle stores it as `bf16`");
    to_dtype(narrow, &mut checkpoint, DType::Bf16);
    assert!(has_own_types(narrow, &checkpoint));
    to_own_types(narrow, &mut checkpoint).expect("they were rounded");
}
