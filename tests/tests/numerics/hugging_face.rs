//! The front doors for Hugging Face's checkpoints against Transformers itself; see `hugging_face/README.md`.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite::source::{ModelInput, Source};
use halite_bundle::adopt;
use halite_bundle::convert::{to_dtype, to_model, to_own_types, to_stored};
use halite_bundle::shards;
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Manifest, ModuleRole};
use halite_ir::ParamRole;
use halite_recipe::{ModelChoice, Optimizer, Recipe};
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::tolerances::HUGGING_FACE_LOGITS;
use halite_train::LoadedModule;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod configuration;
mod encoder;

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
    let loaded = session.load(input, &overrides);
    loaded.unwrap_or_else(|errors| panic!("{input}: {errors:?}"))
}

fn compile(input: &str, overrides: &[&str], roles: &[ModuleRole]) -> Compiled {
    let mut session = Session::new();
    let source = load(input, overrides, &mut session);
    let options = CompileOptions { roles: roles.to_vec(), ..CompileOptions::default() };
    session.compile(&source, &options).unwrap_or_else(|errors| panic!("{input}: {errors:?}"))
}

/// The figures of Transformers for the published configurations.
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

/// Parameters of the published checkpoints. Those of 2 bytes each are half the `total_size` of `model.safetensors.index.json` in
/// the repositories `meta-llama/Llama-2-7b-hf` (13,476,835,328, with 64 rotary frequencies of each of 32 layers, which are no
/// parameters), `meta-llama/Llama-3.1-8B` (16,060,522,496), `mistralai/Mistral-7B-v0.1` (14,483,464,192) and `Qwen/Qwen2.5-7B`
/// (15,231,233,024). GPT-2 is the model of 124M parameters of the document `openai-community/gpt2`; it is counted from the
/// sizes of its `config.json`: tokens and positions, 12 blocks of 12 h^2 + 13 h, and the last norm, where h is 768.
/// BERT is counted so too: tokens, positions and types, 12 blocks of 12 h^2 + 13 h, the norm before them, and a head of h^2 + 3 h and
/// a bias for each token.
const PUBLISHED: [(&str, u64); 6] = [
    (
        "bert-base-uncased",
        (30_522 + 512 + 2 + 2) * 768 + 12 * (12 * 768 * 768 + 13 * 768) + 768 * 768 + 3 * 768 + 30_522,
    ),
    ("gpt2", (50_257 + 1024) * 768 + 12 * (12 * 768 * 768 + 13 * 768) + 2 * 768),
    ("llama-2-7b", 13_476_835_328 / 2 - 32 * 64),
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

fn expected(case: &str) -> Tensors {
    tensors::read(&fixture(case).join("expected.safetensors")).expect("the file is in the repository")
}

/// The outputs of a module of a fixture for these inputs.
fn outputs(case: &str, role: &ModuleRole, overrides: &[&str], fed: &Tensors) -> Tensors {
    let input = fixture(case).join("config.json").display().to_string();
    let compiled = compile(&input, &[&SETTINGS, overrides].concat(), std::slice::from_ref(role));
    let (mut inputs, _) = weights(case, &compiled.bundle.manifest);
    inputs.extend(fed.clone());
    let entry = compiled.bundle.module_with_role(role).expect("it was asked for");
    let module = LoadedModule::load(xla::client(), &compiled.bundle, entry).unwrap_or_else(|error| panic!("{error}"));
    inputs.retain(|name, _| module.entry().inputs.iter().any(|port| port.name == *name));
    module.run(xla::client(), inputs).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn assert_logits_with(case: &str, overrides: &[&str], name: &str) {
    let expected = expected(case);
    let outputs = outputs(case, &ModuleRole::FORWARD, overrides, &expected);
    let apart = difference(&outputs["logits"], &expected[name]);
    println!("{case}: {name} are off by {:e}, at most {:.2}", apart.max_abs, apart.scale);
    assert!(apart.max_abs <= HUGGING_FACE_LOGITS, "{case}: {name} are off by {:e}", apart.max_abs);
}

fn assert_logits(case: &str) {
    assert_logits_with(case, &[], "logits");
}

/// Through the training step's layout, where projections are merged, and files of at most 8 kB.
fn assert_round_trip(case: &str) {
    let compiled = compile_fixture(case, ModuleRole::TRAIN_STEP);
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

cases!(bert, bert_silu, gpt2, gpt2_inner, llama, llama3, llama3_table, llama_linear, mistral, mistral_tied, qwen2);

/// The defaults of the definitions are the published models, but for what the later of two models shares with the earlier, and
/// for dropout, which is off.
#[test]
fn definitions_are_the_published_models() {
    for (model, settings) in [
        ("llama-2-7b", ModelChoice::new("llama").with("init_std", 0.02)),
        ("llama-3.1-8b", ModelChoice::new("llama3")),
        ("mistral-7b-v0.1", ModelChoice::new("mistral")),
        ("qwen2.5-7b", ModelChoice::new("qwen2")),
        (
            "gpt2",
            ModelChoice::new("gpt2").with("attn_dropout", 0.1).with("resid_dropout", 0.1).with("embd_dropout", 0.1),
        ),
        ("bert-base-uncased", ModelChoice::new("bert").with("hidden_dropout", 0.1).with("attention_dropout", 0.1)),
    ] {
        let resolved = |choice: ModelChoice| {
            let mut session = Session::new();
            let recipe = Recipe::new(choice.with("layers", 1), 1, 64, Optimizer::new("adamw", 1e-3));
            let source = session.source(recipe, ModelInput::Named);
            let found = source.and_then(|source| Ok((session.elaborate(&source)?.config, source.model_name)));
            found.unwrap_or_else(|errors| panic!("{model}: {errors:?}"))
        };
        let (found, expected) = (resolved(ModelChoice::new(config(model))), resolved(settings));
        assert_eq!(found, expected, "{model}");
    }
}

/// A checkpoint as the inner module of GPT-2 was saved long ago: no name before the others, masks among the parameters, and
/// the embedding once more.
#[test]
fn older_names_are_adopted() {
    let compiled = compile_fixture("gpt2", ModuleRole::TRAIN_STEP);
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

/// A file whose writer kept the output projection of the two names that a tied table has.
#[test]
fn a_tied_output_projection_is_the_embedding() {
    for (case, table, output) in [
        ("gpt2", "transformer.wte.weight", "lm_head.weight"),
        ("mistral_tied", "model.embed_tokens.weight", "lm_head.weight"),
        ("bert", "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"),
        ("bert", "cls.predictions.bias", "cls.predictions.decoder.bias"),
    ] {
        let compiled = compile_fixture(case, ModuleRole::TRAIN_STEP);
        let manifest = &compiled.bundle.manifest;
        let (_, checkpoint) = weights(case, manifest);
        let mut renamed = checkpoint.clone();
        let tensor = renamed.shift_remove(table).expect("it is a weight");
        renamed.insert(output.to_owned(), tensor);
        let mut adopted = adopt(manifest, renamed).unwrap_or_else(|error| panic!("{error}"));
        adopted.sort_keys();
        assert_eq!(adopted, checkpoint);
    }
}

#[test]
fn no_tensor_is_taken_for_another() {
    let compiled = compile_fixture("llama", ModuleRole::TRAIN_STEP);
    let manifest = &compiled.bundle.manifest;
    let (_, checkpoint) = weights("llama", manifest);
    let twice = "the checkpoint has both `norm.weight` and `model.norm.weight`, one tensor of the model";
    for at in [0, checkpoint.len()] {
        let mut both = checkpoint.clone();
        both.shift_insert(at, "norm.weight".to_owned(), checkpoint["model.norm.weight"].clone());
        assert_eq!(adopt(manifest, both).expect_err("which one is meant?").message(), twice);
    }
    // Its output projection is a weight of its own.
    let mut headless = checkpoint;
    headless.shift_remove("lm_head.weight");
    let adopted = adopt(manifest, headless.clone()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(adopted, headless);
}

#[test]
fn weights_are_rounded_only_when_asked() {
    let compiled = compile_fixture("llama", ModuleRole::TRAIN_STEP);
    let narrow = &mut compiled.bundle.manifest.clone();
    narrow.buffers.iter_mut().for_each(|buffer| buffer.dtype = DType::Bf16);
    let (_, mut checkpoint) = weights("llama", &compiled.bundle.manifest);
    let errors = to_own_types(narrow, &mut checkpoint.clone()).expect_err("f32 does not fit in bf16");
    assert_eq!(errors[0].message(), "the weight `model.embed_tokens.weight` is `f32`, the bundle stores it as `bf16`");
    to_dtype(narrow, &mut checkpoint, DType::Bf16);
    let rounded = checkpoint.clone();
    to_own_types(narrow, &mut checkpoint).expect("they were rounded");
    assert!(checkpoint == rounded);
}
