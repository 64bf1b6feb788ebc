//! One model through each front door: a definition with settings, Hugging Face's `config.json`, the builder.

use halite::Session;
use halite::compile::CompileOptions;
use halite::model::{Elaborated, ModelBuilder};
use halite::source::{ModelInput, Source};
use halite_ir::LowerOptions;
use halite_recipe::{ModelChoice, Optimizer, Recipe};
use halite_support::Diagnostics;
use halite_tests::compiled::{expect, hlo};
use halite_tests::models::{Gpt2, Llama};
use serde_json::{Map, Value, json};

const BATCH: usize = 2;
const SEQ: usize = 16;

type Build = fn(&ModelBuilder) -> Result<Elaborated, Diagnostics>;

/// A model said in two ways or three. No value is the default of its definition or of Transformers.
struct Model {
    /// The `.hal` definition with settings.
    settings: ModelChoice,
    /// The `config.json`.
    config: Value,
    built: Option<Build>,
}

const LLAMA3: Llama = Llama {
    vocab: 48,
    hidden: 24,
    layers: 2,
    heads: 4,
    kv_heads: 2,
    head_dim: 8,
    ffn: 40,
    seq: SEQ,
    batch: BATCH,
    rope: &[("theta", 700.0), ("factor", 6.0), ("trained", 24.0), ("low", 1.5), ("high", 5.0)],
    tied: true,
    eps: 1e-4,
    init_std: 0.03,
    attention_dropout: 0.2,
};

const GPT2: Gpt2 = Gpt2 {
    vocab: 48,
    hidden: 24,
    layers: 2,
    heads: 4,
    ffn: 56,
    positions: 20,
    seq: SEQ,
    batch: BATCH,
    eps: 1e-4,
    init_std: 0.03,
    attn_dropout: 0.15,
    resid_dropout: 0.2,
    embd_dropout: 0.3,
};

/// The sizes that `llama` and those after it have in common.
fn sizes(definition: &str) -> ModelChoice {
    let model = ModelChoice::new(definition).with("vocab", 48).with("hidden", 24).with("layers", 2).with("heads", 4);
    let model = model.with("kv_heads", 2).with("ffn", 40).with("rope_theta", 700.0);
    model.with("eps", 1e-4).with("init_std", 0.03)
}

/// The same as `config.json` has it, with more keys.
fn config(model_type: &str, more: Value) -> Value {
    let mut config = json!({
        "model_type": model_type, "vocab_size": 48, "hidden_size": 24, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 40, "rms_norm_eps": 1e-4,
        "initializer_range": 0.03,
    });
    let Value::Object(more) = more else { unreachable!("it is one") };
    config.as_object_mut().expect("it is one").extend(more);
    config
}

fn models() -> Vec<Model> {
    let later = |definition| sizes(definition).with("head_dim", 8).with("tied", true);
    let llama3 = later("llama3").with("rope_factor", 6.0).with("rope_trained", 24);
    let llama3 = llama3.with("rope_low", 1.5).with("rope_high", 5.0).with("attention_dropout", 0.2);
    let gpt2 = ModelChoice::new("gpt2").with("vocab", 48).with("hidden", 24).with("layers", 2).with("heads", 4);
    let gpt2 = gpt2.with("ffn", 56).with("positions", 20).with("eps", 1e-4).with("init_std", 0.03);
    let gpt2 = gpt2.with("attn_dropout", 0.15).with("resid_dropout", 0.2).with("embd_dropout", 0.3);
    let bert = ModelChoice::new("bert").with("vocab", 48).with("hidden", 24).with("layers", 2).with("heads", 4);
    let bert = bert.with("ffn", 56).with("positions", 20).with("types", 3).with("eps", 1e-4).with("init_std", 0.03);
    let bert = bert.with("act", "relu").with("hidden_dropout", 0.2).with("attention_dropout", 0.15);
    let both = |settings, config| Model { settings, config, built: None };
    vec![
        both(
            bert,
            json!({
                "model_type": "bert", "vocab_size": 48, "hidden_size": 24, "num_hidden_layers": 2,
                "num_attention_heads": 4, "intermediate_size": 56, "max_position_embeddings": 20, "type_vocab_size": 3,
                "layer_norm_eps": 1e-4, "initializer_range": 0.03, "hidden_act": "relu", "hidden_dropout_prob": 0.2,
                "attention_probs_dropout_prob": 0.15,
            }),
        ),
        both(
            sizes("llama").with("attention_dropout", 0.2),
            config("llama", json!({"rope_theta": 700.0, "attention_dropout": 0.2})),
        ),
        Model {
            settings: llama3.clone(),
            config: config(
                "llama",
                json!({
                    "head_dim": 8, "tie_word_embeddings": true, "rope_theta": 700.0, "attention_dropout": 0.2,
                    "rope_scaling": {
                        "rope_type": "llama3", "factor": 6.0, "low_freq_factor": 1.5, "high_freq_factor": 5.0,
                        "original_max_position_embeddings": 24,
                    },
                }),
            ),
            built: Some(|m| LLAMA3.build(m)),
        },
        both(
            llama3,
            config(
                "llama",
                json!({
                    "head_dim": 8, "tie_word_embeddings": true, "attention_dropout": 0.2,
                    "rope_parameters": {
                        "rope_type": "llama3", "rope_theta": 700.0, "factor": 6.0, "low_freq_factor": 1.5,
                        "high_freq_factor": 5.0, "original_max_position_embeddings": 24,
                    },
                }),
            ),
        ),
        both(
            later("llama3").with("rope_factor", 6.0).with("rope_trained", 0.0).with("attention_dropout", 0.2),
            config(
                "llama",
                json!({
                    "head_dim": 8, "tie_word_embeddings": true, "rope_theta": 700.0, "attention_dropout": 0.2,
                    "rope_scaling": {"type": "linear", "factor": 6.0},
                }),
            ),
        ),
        both(
            later("mistral").with("window", 5).with("attention_dropout", 0.2),
            config(
                "mistral",
                json!({"head_dim": 8, "tie_word_embeddings": true, "rope_theta": 700.0, "sliding_window": 5,
                    "attention_dropout": 0.2}),
            ),
        ),
        both(
            later("qwen2").with("attention_dropout", 0.2),
            config(
                "qwen2",
                json!({
                    "head_dim": 8, "tie_word_embeddings": true, "rope_theta": 700.0, "attention_dropout": 0.2,
                }),
            ),
        ),
        Model {
            settings: gpt2,
            config: json!({
                "model_type": "gpt2", "vocab_size": 48, "n_embd": 24, "n_layer": 2, "n_head": 4, "n_inner": 56,
                "n_positions": 20, "layer_norm_epsilon": 1e-4, "initializer_range": 0.03, "attn_pdrop": 0.15,
                "resid_pdrop": 0.2, "embd_pdrop": 0.3,
            }),
            built: Some(|m| GPT2.build(m)),
        },
    ]
}

fn recipe(model: ModelChoice) -> Recipe {
    Recipe::new(model, BATCH, SEQ, Optimizer::new("adamw", 1e-3))
}

/// A model by name.
fn named(settings: &ModelChoice, session: &mut Session) -> Source {
    expect(session.source(recipe(settings.clone()), ModelInput::Named))
}

/// A model by `config.json`.
fn configured(config: &Value, session: &mut Session) -> Result<Source, Diagnostics> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("config.json");
    std::fs::write(&path, config.to_string()).expect("the folder can be written");
    let model = ModelChoice::new(path.to_str().expect("the path is text"));
    session.source(recipe(model), ModelInput::Named)
}

#[test]
fn every_door_gives_the_same_program() {
    let lower = LowerOptions { without_positions: true, ..LowerOptions::default() };
    let options = CompileOptions { lower, ..CompileOptions::default() };
    for Model { settings, config, built } in models() {
        let mut session = Session::new();
        let named = named(&settings, &mut session);
        let configured = expect(configured(&config, &mut session));
        assert_eq!(configured.recipe, named.recipe);
        let [by_name, by_config] = [&named, &configured].map(|source| expect(session.compile(source, &options)).bundle);
        assert_eq!(hlo(&by_name).len(), 3);
        assert!(by_name.files == by_config.files, "{settings:?}");
        let Some(build) = built else { continue };
        let built = expect(build(&session.model(settings.name.as_str(), &named.recipe)));
        let built = expect(session.source(recipe(ModelChoice::new(&settings.name)), built));
        let built = expect(session.compile(&built, &options)).bundle;
        for ((name, by_name), (_, built)) in hlo(&by_name).into_iter().zip(hlo(&built)) {
            assert!(by_name == built, "{name}: {} and {} bytes", by_name.len(), built.len());
        }
        assert_eq!(by_name.manifest.buffers, built.manifest.buffers);
    }
}

/// A `config.json` without a key, which may be one of a table's.
fn without(config: &Value, table: Option<&str>, key: &str) -> Value {
    let mut config = config.clone();
    let object = match table {
        Some(table) => &mut config[table],
        None => &mut config,
    };
    object.as_object_mut().and_then(|object| object.remove(key)).expect("it is there");
    config
}

/// The test above relies on this: a key that is not read, or read as another, gives another model.
#[test]
fn each_value_makes_a_difference() {
    for Model { settings, config, .. } in models() {
        let mut session = Session::new();
        let source = named(&settings, &mut session);
        let whole = expect(session.elaborate(&source)).config;
        for key in settings.config.keys() {
            let mut fewer = settings.clone();
            fewer.config.shift_remove(key);
            let source = named(&fewer, &mut session);
            let same = session.elaborate(&source).is_ok_and(|model| model.config == whole);
            assert!(!same, "`{key}` of `{}` is the default of the definition", settings.name);
        }
        let keys = |object: &Map<String, Value>| object.keys().cloned().collect::<Vec<_>>();
        let object = config.as_object().expect("it is one");
        let tables = object.iter().filter_map(|(table, value)| Some((Some(table.as_str()), value.as_object()?)));
        for (table, object) in tables.chain([(None, object)]) {
            for key in keys(object) {
                let model = configured(&without(&config, table, &key), &mut session).map(|source| source.recipe.model);
                assert!(model.is_err() || model != Ok(source.recipe.model.clone()), "`{key}` is the default");
            }
        }
    }
}
