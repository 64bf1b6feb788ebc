//! Runs of models that are files: what is told when such a model changes, and which of them Transformers loads. Needs the PJRT plugin:
//! `halite plugin install`.

use crate::program::{halite, written};
use serde_json::Value;
use std::path::Path;

/// A folder with a text and, as `own.hal`, a copy of the built-in Llama with another name and another comment.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = written(folder.path(), &["show", "llama"]);
    assert!(text.contains("model llama {"), "{text}");
    let text = format!("// Mine.\n{}", text.replace("model llama {", "model own {"));
    std::fs::write(folder.path().join("own.hal"), text).unwrap();
    std::fs::write(folder.path().join("text.txt"), "it is a truth universally acknowledged, ".repeat(40)).unwrap();
    folder
}

/// Replaces a part of `own.hal`.
fn change(folder: &Path, from: &str, to: &str) {
    let path = folder.join("own.hal");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

const SIZES: [&str; 18] = [
    "--set",
    "vocab=256",
    "--set",
    "hidden=16",
    "--set",
    "layers=1",
    "--set",
    "heads=2",
    "--set",
    "kv_heads=1",
    "--set",
    "ffn=32",
    "--set",
    "batch=2",
    "--set",
    "seq=16",
    "--text",
    "text.txt",
];

/// Trains a model for two updates; what it says on standard error, where it is refused.
fn train(folder: &Path, model: &str, output: &str) -> Option<String> {
    let run = ["train", model, "--steps", "2", "-o", output, "-q"];
    let ended = halite(folder, &[&run[..], &SIZES].concat());
    (ended.status.code() != Some(0)).then(|| String::from_utf8(ended.stderr).unwrap())
}

fn config(folder: &Path, exported: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(exported).join("config.json")).unwrap()).unwrap()
}

/// Its name and its comments are nothing that Transformers knows, and sizes are values of `config.json`.
#[test]
fn a_model_that_computes_what_a_built_in_one_does_is_exported() {
    let folder = folder();
    let folder = folder.path();
    change(folder, "= 1e-5", "= 1e-4");
    assert_eq!(train(folder, "own.hal", "run"), None);
    written(folder, &["convert", "run", "--to", "hugging-face", "-o", "exported"]);
    let config = config(folder, "exported");
    assert_eq!((&config["model_type"], &config["hidden_size"]), (&"llama".into(), &16.into()));
    assert_eq!((&config["rms_norm_eps"], &config["max_position_embeddings"]), (&1e-4.into(), &16.into()));
    let loss = |arguments: &[&str]| {
        let found = written(folder, &[&["eval", "--data", "text.txt", "--json"], arguments].concat());
        serde_json::from_str::<Value>(&found).unwrap()["data"][0]["loss"].clone()
    };
    // Nobody says how long sequences are: the checkpoint is made for 16 positions.
    assert_eq!(loss(&["exported", "--set", "batch=2"]), loss(&["run"]));
}

#[test]
fn a_model_that_computes_something_else_is_refused_with_the_line() {
    let folder = folder();
    let folder = folder.path();
    change(folder, "return norm(x, eps) as norm", "return norm(2.0 * x, eps) as norm");
    assert_eq!(train(folder, "own.hal", "run"), None);
    let refused = halite(folder, &["convert", "run", "--to", "hugging-face", "-o", "exported"]);
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("`own.hal` computes what no built-in model does"), "{error}");
    assert!(error.contains("beside the built-in model `llama`: line "), "{error}");
    assert!(!folder.join("exported").exists());
}

/// A changed model is refused with one error, before any error about tensors that do not fit.
#[test]
fn a_folder_with_a_run_of_another_model_is_refused_with_the_line_that_changed() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(train(folder, "own.hal", "run"), None);
    // One more weight for each layer.
    change(folder, "norm(x, eps) as input_layernorm", "norm(norm(x, eps) as one_more, eps) as input_layernorm");
    let refused = train(folder, "own.hal", "run").expect("the folder has another run");
    assert_eq!(refused.matches("error[").count(), 1, "{refused}");
    for part in ["error[E0515]", "the model is another: line ", "as one_more", "another folder with `-o`"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert_eq!(train(folder, "own.hal", "other"), None);
}
