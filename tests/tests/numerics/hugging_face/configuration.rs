//! Keys of `config.json`: one that changes the computation is refused, with a remedy; one without influence is taken.

use super::{PUBLISHED, config, folder, load};
use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_support::Diagnostics;
use serde_json::{Map, Value, json};

/// Loads a `config.json`, and returns the messages, one line each. Each must point at the file and say what to do.
fn findings(text: &str, overrides: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("config.json");
    std::fs::write(&path, text).expect("it can be written");
    let mut session = Session::new();
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let loaded = session.load(path.to_str().expect("the path is text"), &overrides);
    let found: Diagnostics = loaded.map_or_else(|errors| errors, |source| source.warnings);
    assert!(found.iter().all(|found| found.primary().is_some() && found.help_text().is_some()), "{found:?}");
    assert!(
        found
            .iter()
            .all(|found| !halite_report::report(found, &session.sources, halite_report::Style::default()).is_empty())
    );
    found.iter().map(|found| found.message().to_owned()).collect()
}

/// The same of a published one that is changed.
fn changed(model: &str, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Vec<String> {
    let text = std::fs::read_to_string(config(model)).expect("the file is in the repository");
    let mut value: serde_json::Map<_, _> = serde_json::from_str(&text).expect("it is JSON");
    change(&mut value);
    findings(&serde_json::to_string_pretty(&value).expect("it is JSON"), &[])
}

/// The same with one key changed.
pub(super) fn with(model: &str, key: &str, value: impl Into<Value>) -> Vec<String> {
    changed(model, |config| _ = config.insert(key.into(), value.into()))
}

/// The same with a part of the text replaced.
fn rewritten(model: &str, from: &str, to: &str) -> Vec<String> {
    let text = std::fs::read_to_string(config(model)).expect("the file is in the repository");
    assert!(text.contains(from), "`{from}` is not in {model}");
    findings(&text.replace(from, to), &[])
}

#[test]
fn what_changes_the_computation_is_refused() {
    assert_eq!(with("llama-3.1-8b", "use_cache", false), [""; 0]);
    let unknown = "unknown key `residual_scale`: it may change what the model computes";
    assert_eq!(with("llama-2-7b", "residual_scale", 0.5), [unknown]);
    let biased = "`attention_bias` is `true`, Halite computes this model with `false`";
    assert_eq!(with("llama-3.1-8b", "attention_bias", true), [biased]);
    let window = "`use_sliding_window` is `true`, Halite computes this model with `false`";
    assert_eq!(with("qwen2.5-7b", "use_sliding_window", true), [window]);
    let gelu = "`activation_function` is `\"gelu\"`, Halite computes this model with `\"gelu_new\"`";
    assert_eq!(with("gpt2", "activation_function", "gelu"), [gelu]);
    let head =
        "`architectures` is `[\"GPT2DoubleHeadsModel\"]`, Halite computes this model with `[\"GPT2LMHeadModel\"]`";
    assert_eq!(with("gpt2", "architectures", json!(["GPT2DoubleHeadsModel"])), [head]);
    let dynamic = "rotary positions of the type `dynamic` are not among those of this model";
    let scaling = |kind: &str| json!({"rope_type": kind, "factor": 2.0});
    assert_eq!(with("llama-2-7b", "rope_scaling", scaling("dynamic")), [dynamic]);
    let linear = "rotary positions of the type `linear` are not among those of this model";
    assert_eq!(with("mistral-7b-v0.1", "rope_scaling", scaling("linear")), [linear]);
    let inner = "unknown key `low_freq_factor`: it may change what the model computes";
    let mixed = json!({"type": "linear", "factor": 2.0, "low_freq_factor": 1.0});
    assert_eq!(with("llama-2-7b", "rope_scaling", mixed), [inner]);
    assert_eq!(with("llama-2-7b", "model_type", "gemma"), ["there is no built-in model for `model_type` \"gemma\""]);
    let several = changed("llama-2-7b", |config| {
        config.remove("hidden_size");
        config.insert("vocab_size".into(), Value::Null);
        config.insert("num_hidden_layers".into(), "many".into());
    });
    let expected = [
        "`num_hidden_layers` is \"many\", expected a whole number of at least 1",
        "`vocab_size` is `null`",
        "`hidden_size` is missing",
    ];
    assert_eq!(several, expected);
}

#[test]
fn values_out_of_range_are_refused() {
    let llama = |key, value: Value| with("llama-3.1-8b", key, value).join("\n");
    for (value, found) in [(json!(-1), "-1"), (json!(0), "0"), (json!(-0.0), "-0.0"), (json!(true), "true")] {
        let expected = format!("`rms_norm_eps` is {found}, expected a number greater than 0");
        assert_eq!(llama("rms_norm_eps", value), expected);
    }
    assert_eq!(llama("rope_theta", json!(-5.0)), "`rope_theta` is -5.0, expected a number greater than 0");
    assert_eq!(llama("initializer_range", json!(-0.1)), "`initializer_range` is -0.1, expected a number of at least 0");
    assert_eq!(llama("hidden_size", json!(64.5)), "`hidden_size` is 64.5, expected a whole number of at least 1");
    assert_eq!(llama("tie_word_embeddings", json!(1)), "`tie_word_embeddings` is 1, expected `true` or `false`");
    let positions = "`max_position_embeddings` is 0, expected a whole number of at least 1";
    assert_eq!(llama("max_position_embeddings", json!(0)), positions);
    // Reported once, though the number of key-value heads is taken from it.
    let heads = changed("llama-2-7b", |config| {
        config.insert("num_attention_heads".into(), json!(-4));
        config.remove("num_key_value_heads");
    });
    assert_eq!(heads, ["`num_attention_heads` is -4, expected a whole number of at least 1"]);
    for window in [json!(0), json!(-1), json!(0.5)] {
        let expected = format!("`sliding_window` is {window}, expected a whole number of at least 1");
        assert_eq!(with("mistral-7b-v0.1", "sliding_window", window), [expected]);
    }
    assert_eq!(with("mistral-7b-v0.1", "sliding_window", Value::Null), [""; 0]);
    let table = with("llama-3.1-8b", "rope_scaling", json!({"rope_type": "linear", "factor": 0}));
    assert_eq!(table, ["`factor` is 0, expected a number greater than 0"]);
}

/// A key that is null in one place may be stated in another, before it or after it.
#[test]
fn the_order_of_keys_does_not_matter() {
    let theta = "\"rope_theta\": 500000.0";
    let table = |base: &str| format!("\"rope_parameters\": {{\"rope_type\": \"default\"{base}}}");
    for (outer, inner) in [("\"rope_theta\": null", ", \"rope_theta\": 7.0"), (theta, ", \"rope_theta\": null")] {
        for both in [format!("{outer}, {}", table(inner)), format!("{}, {outer}", table(inner))] {
            let text = std::fs::read_to_string(config("llama-2-7b")).expect("the file is in the repository");
            let opened = text.replacen('{', &format!("{{{both},"), 1);
            assert_eq!(findings(&opened, &[]), [""; 0], "{both}");
        }
    }
}

#[test]
fn keys_that_are_stated_twice_are_refused() {
    let twice = |key: &str| format!("the key `{key}` is stated twice");
    let eps = "\"rms_norm_eps\": 1e-05";
    assert_eq!(rewritten("llama-3.1-8b", eps, &format!("{eps}, {eps}")), [twice("rms_norm_eps")]);
    let factor = "\"factor\": 8.0";
    assert_eq!(rewritten("llama-3.1-8b", factor, &format!("{factor}, \"factor\": 4.0")), [twice("factor")]);
}

/// JSON that stands for no number is not taken for a key that nobody knows.
#[test]
fn what_cannot_be_read_is_told() {
    let eps = "\"rms_norm_eps\": 1e-05";
    let beyond = |key: &str| format!("the value of `{key}` cannot be read: number out of range");
    assert_eq!(rewritten("llama-3.1-8b", eps, "\"rms_norm_eps\": 1e999"), [beyond("rms_norm_eps")]);
    assert_eq!(rewritten("llama-3.1-8b", "\"factor\": 8.0", "\"factor\": -1e999"), [beyond("factor")]);
    assert_eq!(rewritten("llama-3.1-8b", "\"rope_type\": \"llama3\"", "\"type\": 1e999"), [beyond("type")]);
    assert_eq!(rewritten("llama-3.1-8b", "\"model_type\": \"llama\"", "\"model_type\": 1e999"), [beyond("model_type")]);
    let unknown = "unknown key `rms_norm_epsilon`: it may change what the model computes";
    let renamed = rewritten("llama-3.1-8b", eps, "\"rms_norm_epsilon\": 1e999");
    assert_eq!(renamed, [unknown]);
    // It has no influence, whatever it is.
    assert_eq!(rewritten("llama-3.1-8b", "\"bos_token_id\": 128000", "\"bos_token_id\": 1e999"), [""; 0]);
    let nan = rewritten("llama-3.1-8b", eps, "\"rms_norm_eps\": NaN");
    assert_eq!(nan, ["the file is not a JSON object: expected value"]);
}

#[test]
fn a_config_without_a_class_is_known_by_its_type() {
    for model in PUBLISHED.map(|(model, _)| model) {
        let whole = changed(model, |_| {});
        assert_eq!(with(model, "architectures", Value::Null), whole);
        assert_eq!(changed(model, |config| _ = config.remove("architectures")), whole);
    }
}

#[test]
fn keys_without_effect_are_taken() {
    for (model, key, value) in [
        ("gpt2", "n_special", json!(0)),
        ("gpt2", "predict_special_tokens", json!(true)),
        ("gpt2", "output_past", json!(true)),
        ("llama-2-7b", "sequence_parallel_enabled", json!(false)),
        ("llama-2-7b", "selective_checkpoint_enabled", json!(false)),
        ("llama-2-7b", "is_llama_config", json!(true)),
        ("llama-2-7b", "rope_interleaved", json!(false)),
    ] {
        assert_eq!(with(model, key, value.clone()), changed(model, |_| {}), "{key} = {value}");
    }
    assert_eq!(with("llama-2-7b", "rope_interleaved", true).len(), 1);
}

#[test]
fn rotary_positions_scaled_by_1_are_not_scaled() {
    let resolved = |scaling: Value| {
        let text = std::fs::read_to_string(config("llama-2-7b")).expect("the file is in the repository");
        let mut value: serde_json::Map<_, _> = serde_json::from_str(&text).expect("it is JSON");
        value.insert("rope_scaling".into(), scaling);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("config.json");
        std::fs::write(&path, serde_json::to_string(&value).expect("it is JSON")).expect("it can be written");
        let mut session = Session::new();
        let source = load(path.to_str().expect("the path is text"), &["layers=1"], &mut session);
        let module = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}"));
        (module.config, source.model_name)
    };
    let llama3 = json!({"rope_type": "llama3", "factor": 1.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                        "original_max_position_embeddings": 8192});
    for scaling in [json!({"type": "linear", "factor": 1.0}), llama3] {
        assert_eq!(resolved(scaling.clone()), resolved(Value::Null), "{scaling}");
    }
}

#[test]
fn longer_sequences_than_the_checkpoint_was_made_for_are_told() {
    let seq = |model: &str, seq: &str| {
        let text = std::fs::read_to_string(config(model)).expect("the file is in the repository");
        findings(&text, &[seq])
    };
    let warning = "`seq` is 4097, but the checkpoint is made for at most 4096 positions";
    assert_eq!(seq("llama-2-7b", "seq=4097"), [warning]);
    for (model, longest) in
        [("llama-2-7b", "seq=4096"), ("llama-3.1-8b", "seq=131072"), ("mistral-7b-v0.1", "seq=32768")]
    {
        assert_eq!(seq(model, longest), [""; 0]);
    }
    assert_eq!(seq("mistral-7b-v0.1", "seq=32769").len(), 1);
    // Where nobody says how long sequences are, they are no longer than that.
    let mut session = Session::new();
    let text = r#"{"model_type": "llama", "vocab_size": 64, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
                   "intermediate_size": 8, "max_position_embeddings": 48}"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("config.json");
    std::fs::write(&path, text).expect("it can be written");
    let source = load(path.to_str().expect("the path is text"), &[], &mut session);
    let elaborated = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(elaborated.config["seq"], halite_recipe::ConfigValue::Int(48));
    assert_eq!(seq("qwen2.5-7b", "seq=131073").len(), 1);
}

#[test]
fn rates_of_dropout_are_those_of_the_configuration() {
    let mut session = Session::new();
    let source = load(&config("gpt2"), &["layers=1"], &mut session);
    assert!(source.warnings.is_empty(), "{:?}", source.warnings);
    let elaborated = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}"));
    let entry = elaborated.module.entry().expect("a model has an entry");
    let count = entry.insts.iter().filter(|inst| inst.op.name() == "dropout").count();
    assert_eq!(count, 4, "embeddings, probabilities, and the ends of both sublayers");
}

/// The configuration that is written for a model is read as that model.
#[test]
fn a_written_configuration_reads_back() {
    let published = PUBLISHED.iter().map(|(model, _)| config(model));
    let fixtures = std::fs::read_dir(folder().join("fixtures")).expect("the folder is in the repository");
    let fixtures =
        fixtures.map(|entry| entry.expect("it can be read").path().join("config.json").display().to_string());
    let mut seen = 0;
    for path in published.chain(fixtures) {
        let compile = |input: &str, settings: &[&str]| {
            let mut session = Session::new();
            let source = load(input, &[&["batch=1", "layers=1"], settings].concat(), &mut session);
            let options = CompileOptions { roles: vec![ModuleRole::FORWARD], ..CompileOptions::default() };
            session.compile(&source, &options).unwrap_or_else(|errors| panic!("{input}: {errors:?}")).bundle.manifest
        };
        let manifest = compile(&path, &["seq=8"]);
        let written =
            halite::export::config_json(&mut Session::new(), &manifest, None, Map::new()).expect("it is built in");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let again = folder.path().join("config.json");
        std::fs::write(&again, &written).expect("it can be written");
        let again = compile(again.to_str().expect("the path is text"), &["seq=8"]);
        assert_eq!(
            (&again.model, again.recipe.model.name),
            (&manifest.model, manifest.recipe.model.name),
            "{path}\n{written}"
        );
        let stated: Value = serde_json::from_str(&written).expect("it is JSON");
        assert!(
            stated["architectures"][0].as_str().is_some_and(|class| class.contains("For") || class.contains("LMHead"))
        );
        seen += 1;
    }
    assert!(seen >= 17, "{seen} configurations");
}
