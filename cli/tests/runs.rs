//! Uses of a run after training, and messages of the first hour. Needs the PJRT plugin: `halite plugin install`.

use crate::program::{halite, written};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const TEXT: &str = "it is a truth universally acknowledged, that a single man must be in want of a wife. ";

/// A folder with a run of a small model, which holds a part of its text out.
fn trained() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), TEXT.repeat(40)).unwrap();
    let model = ["train", "tiny", "--set", "layers=1", "--set", "seq=16", "--set", "batch=4"];
    let run = ["--text", "text.txt", "--held-out", "0.2", "--steps", "20", "-o", "runs/a", "--quiet"];
    written(folder.path(), &[&model[..], &run].concat());
    folder
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&written(folder, &[arguments, &["--json"]].concat())).unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run knows its model, its data and its state, and so do its checkpoints.
#[test]
fn a_run_stands_for_its_recipe_and_its_state() {
    let folder = trained();
    let folder = folder.path();
    let of_run = json(folder, &["eval", "runs/a"]);
    assert!(of_run["data"][0]["tokens"].as_u64().unwrap() > 0);
    for same in [
        &["eval", "runs/a/checkpoints/00000020"][..],
        &["eval", "runs/a/recipe.toml", "--state", "runs/a"],
        // The recipe names no data: those of the run are measured.
        &["eval", "tiny", "--set", "layers=1", "--set", "seq=16", "--set", "batch=4", "--state", "runs/a"],
    ] {
        assert_eq!(json(folder, same), of_run, "{same:?}");
    }
    let text = |input: &str, more: &[&str]| {
        written(folder, &[&["generate", input, "--prompt", "it is", "--greedy"], more].concat())
    };
    assert_eq!(text("runs/a", &[]), text("runs/a/recipe.toml", &["--state", "runs/a"]));
    assert!(json(folder, &["data", "show", "runs/a"])["data"][0]["tokens"].as_u64().unwrap() > 0);
    written(folder, &["train", "runs/a", "--steps", "22", "--quiet"]);
    assert!(folder.join("runs/a/checkpoints/00000022").is_dir());
    let nowhere = halite(folder, &["eval", "tiny"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(message(&nowhere).contains("no weights are given"), "{}", message(&nowhere));
}

#[test]
fn weights_of_a_run_are_written_as_transformers_loads_them() {
    let folder = trained();
    let folder = folder.path();
    written(folder, &["compile", "runs/a/recipe.toml", "-q", "-o", "build"]);
    written(folder, &["convert", "runs/a", "--weights-only", "-o", "a.safetensors"]);
    for (input, state) in
        [("build", "runs/a"), ("build", "runs/a/checkpoints/00000020"), ("build", "runs/a/state.safetensors")]
    {
        written(folder, &["convert", input, state, "--weights-only", "-o", "b.safetensors"]);
        let [a, b] = ["a.safetensors", "b.safetensors"].map(|name| std::fs::read(folder.join(name)).unwrap());
        assert!(a == b, "{input} {state}");
    }
    let output = halite(folder, &["convert", "runs/a", "--to", "hugging-face", "-o", "exported"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(message(&output).contains("no tokenizer is written"), "{}", message(&output));
    let exported = |name: &str| std::fs::read(folder.join("exported").join(name)).unwrap();
    assert!(exported("model.safetensors") == std::fs::read(folder.join("a.safetensors")).unwrap());
    let config: Value = serde_json::from_slice(&exported("config.json")).unwrap();
    assert_eq!((&config["model_type"], &config["hidden_size"]), (&"llama".into(), &64.into()));
    // What is written is read: the exported model measures as the run does.
    let again = ["eval", "exported/config.json", "--weights", "exported", "--data", "text.txt", "--set", "batch=4"];
    let of_run = ["eval", "runs/a", "--data", "text.txt"];
    assert_eq!(
        json(folder, &[&again[..], &["--set", "seq=16", "--set", "precision=fp32"]].concat())["data"][0]["tokens"],
        json(folder, &of_run)["data"][0]["tokens"]
    );
    // The folder stands for its configuration and its weights.
    let whole =
        ["eval", "exported", "--data", "text.txt", "--set", "batch=4", "--set", "seq=16", "--set", "precision=fp32"];
    assert_eq!(
        json(folder, &whole),
        json(folder, &[&again[..], &["--set", "seq=16", "--set", "precision=fp32"]].concat())
    );
    // Weights that are there are never passed over in silence.
    let started = halite(folder, &["train", "exported", "--text", "text.txt", "--steps", "1", "-o", "c"]);
    assert_eq!(started.status.code(), Some(2));
    assert!(message(&started).contains("--weights exported"), "{}", message(&started));
    written(folder, &["convert", "exported", "--weights-only", "-o", "d.safetensors"]);
    let gone = halite(folder, &["eval", "runs/b"]);
    assert!(message(&gone).contains("there is no file or folder `runs/b`"), "{}", message(&gone));
    let nothing = halite(folder, &["convert", "build", "-o", "c.safetensors"]);
    assert!(message(&nothing).contains("no state is given to convert"), "{}", message(&nothing));
}

/// An own model has no class in Transformers; what is built in has a tokenizer where the data have one.
#[test]
fn what_transformers_lacks_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("text.txt"), TEXT.repeat(40)).unwrap();
    written(folder, &["new", "model", "mine.hal"]);
    assert!(halite(folder, &["new", "model", "mine.hal"]).status.code() == Some(2), "what is there stays");
    let train = ["train", "mine.hal", "--text", "text.txt", "--steps", "2", "--set", "seq=16", "-o", "run", "-q"];
    written(folder, &train);
    let own = halite(folder, &["convert", "run", "--to", "hugging-face", "-o", "exported"]);
    assert_eq!(own.status.code(), Some(2));
    assert!(message(&own).contains("Transformers has no class for it"), "{}", message(&own));
    assert!(!folder.join("exported").exists());
    // Two runs whose recipes are alike, and the texts of whose models are not.
    let text = std::fs::read_to_string(folder.join("mine.hal")).unwrap();
    std::fs::write(folder.join("mine.hal"), text.replace("theta = 10000.0", "theta = 5000.0")).unwrap();
    written(folder, &[&train[..8], &["-o", "again", "-q"]].concat());
    let compared = json(folder, &["compare", "run", "again"]);
    assert_eq!(compared["differences"][0]["key"], "text of the model");
}

/// Of a text shorter than one row, each row has it several times.
#[test]
fn data_that_are_fewer_than_an_update_takes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (repeated, epochs) in [(1, 20), (9, 2), (40, 0)] {
        std::fs::write(folder.join("text.txt"), TEXT.repeat(repeated)).unwrap();
        let run = ["train", "tiny", "--text", "text.txt", "--steps", "3", "--fresh", "-o"];
        let output = halite(folder, &[&run[..], &[&format!("run{repeated}"), "--json", "-q"]].concat());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["epochs"], epochs, "{repeated}: {}", message(&output));
        let told = message(&output).contains("the training data are no more than the 512 tokens of one update");
        assert_eq!(told, repeated == 1, "{repeated}: {}", message(&output));
    }
}

#[test]
fn starting_texts_have_no_findings() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, file) in [("model", "m.hal"), ("recipe", "r.toml")] {
        written(folder.path(), &["new", kind, file]);
        let checked = halite(folder.path(), &["check", file, "--deny"]);
        assert_eq!(checked.status.code(), Some(0), "{}", message(&checked));
    }
}

/// A norm at the end of a branch decides what is added, whatever the weights before it start from.
#[test]
fn a_stream_that_is_not_followed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let model = "model m {\n  config { batch = 4 }\n  fn main(x: f32[batch, 8]) {\n    param w: [8, 8] = normal(0.1)\n    param g: [8] = ones\n    y = x + rms_norm(linear(x, w), g)\n    output y\n    return sum(y), sum(full([1], 1.0))\n  }\n}\n";
    std::fs::write(folder.path().join("m.hal"), model).unwrap();
    let checked = written(folder.path(), &["check", "m.hal"]);
    assert!(checked.contains("residual stream: not followed: "), "{checked}");
}

#[test]
fn runs_are_compared() {
    let folder = trained();
    let folder = folder.path();
    let other =
        ["train", "runs/a/recipe.toml", "--set", "optimizer.adamw.lr=1e-3", "--steps", "12", "-o", "runs/b", "-q"];
    written(folder, &other);
    assert!(written(folder, &["compare", "runs/a", "runs/b"]).contains("`-o DIR` writes"));
    assert!(!folder.join("compare").exists() && !folder.join("compare.html").exists(), "nothing is written unasked");
    let compared = json(folder, &["compare", "runs/a", "runs/b", "-o", "compare"]);
    let differ: Vec<&str> =
        compared["differences"].as_array().unwrap().iter().map(|each| each["key"].as_str().unwrap()).collect();
    assert_eq!(differ, ["optimizer.adamw.lr", "train.steps"]);
    let page = std::fs::read_to_string(folder.join("compare/compare.html")).unwrap();
    for part in ["<svg", "runs/a", "runs/b", "optimizer.adamw.lr", "Held-out loss"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(std::fs::read_to_string(folder.join("compare/loss.svg")).unwrap().starts_with("<svg"));
    assert_eq!(halite(folder, &["compare", "runs/a", "text.txt"]).status.code(), Some(2));
}

#[test]
fn what_is_built_in_is_listed_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let listed = json(folder.path(), &["list"]);
    for (kind, name) in [("presets", "tiny"), ("models", "llama"), ("targets", "trn1"), ("libraries", "blocks")] {
        let named = listed[kind].as_array().unwrap().iter().any(|entry| entry["name"] == name);
        assert!(named, "{kind} {name}");
    }
    assert_eq!(written(folder.path(), &["show", "tiny"]), halite_models::preset("tiny").unwrap());
    let unknown = halite(folder.path(), &["show", "lama"]);
    assert!(message(&unknown).contains("did you mean `llama`?"), "{}", message(&unknown));
}

/// A state that a process may not hold is refused before anything is made.
#[test]
fn a_run_that_is_too_large_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), TEXT).unwrap();
    let program = env!("CARGO_BIN_EXE_halite");
    let limited =
        format!("ulimit -v 4000000; exec {program} train hlat-7b --set layers=4 --text text.txt --steps 1 -o run");
    let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output().unwrap();
    let said = message(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error[E0722]: the state is ") && said.contains("(`ulimit -v`) 3.8 GiB"), "{said}");
    assert!(!folder.path().join("run").exists());
}

/// Pictures are no tokens: they have no perplexity, and are called examples.
#[test]
fn examples_are_called_examples() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = "model rows {\n  causal = false\n  config { batch = 4 }\n  fn main(x: f32[batch, 8], label: s32[batch]) {\n    param w: [3, 8] = normal(0.1)\n    logits = linear(x, w)\n    output logits\n    loss, count = cross_entropy(logits, label)\n    hits = sum(convert(argmax(logits) == label, f32))\n    metric accuracy = hits, over = count\n    return loss, count\n  }\n}\n";
    std::fs::write(folder.join("m.hal"), model).unwrap();
    let recipe = "halite = 1\nmodel.name = \"m.hal\"\noptimizer.adamw.lr = 1e-2\ndata.sources = [{ files = [\"d.safetensors\"] }]\ndata.held_out = [{ files = [\"d.safetensors\"] }]\n";
    std::fs::write(folder.join("r.toml"), recipe).unwrap();
    let x =
        halite_tensor::HostTensor::from_f64s(halite_tensor::DType::F32, [12, 8], (0..96).map(|at| f64::from(at % 7)));
    let label = halite_tensor::HostTensor::from_ints(halite_tensor::DType::S32, [12], (0..12).map(|at| at % 3));
    let data = [("x".to_owned(), x), ("label".to_owned(), label)].into_iter().collect();
    halite_bundle::tensors::write(&folder.join("d.safetensors"), &data).unwrap();
    let output = halite(folder, &["train", "r.toml", "--steps", "4", "-o", "run"]);
    let both = message(&output) + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{both}");
    assert!(both.contains("examples/s") && both.contains("examples per second") && !both.contains("tokens"), "{both}");
    assert!(both.contains("accuracy") && both.contains("; held out "), "{both}");
    assert!(both.contains("data of 1 source; compiling with XLA\n") && both.contains(" (at 0)  accuracy"), "{both}");
    let measured = written(folder, &["eval", "run"]);
    assert!(
        measured.contains("accuracy") && !measured.contains("perplexity") && !measured.contains("tokens"),
        "{measured}"
    );
    let report = std::fs::read_to_string(folder.join("run/report.html")).unwrap();
    assert!(
        report.contains("Examples per second") && !report.contains("erplexity") && !report.contains("okens per second")
    );
    let shown = json(folder, &["data", "show", "r.toml"]);
    assert_eq!((&shown["data"][0]["examples"], &shown["takes"][0]["name"]), (&12.into(), &"x".into()));
}

#[test]
fn conversations_are_told_what_to_do_with() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\"}]}\n";
    std::fs::write(folder.path().join("chat.jsonl"), line.repeat(4)).unwrap();
    for column in ["messages", "text"] {
        let recipe = format!(
            "halite = 1\nbatch = 1\nseq = 8\nmodel = {{ name = \"llama\", config = {{ vocab = 256, hidden = 16, layers = 1, heads = 2, ffn = 32 }} }}\noptimizer.adamw.lr = 1e-3\ndata.sources = [{{ files = [\"chat.jsonl\"], column = \"{column}\" }}]\n"
        );
        std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
        let output = halite(folder.path(), &["data", "show", "r.toml"]);
        let said = message(&output);
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("is a list of messages") && said.contains("apply_chat_template"), "{said}");
        assert!(!said.contains("skip"), "{said}");
    }
}

/// A bundle has no model any more.
#[test]
fn the_listing_of_a_bundle_is_asked_of_its_recipe() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &["compile", "tiny", "--set", "parallel.data=2", "-q", "-o", "build"]);
    let output = halite(folder.path(), &["inspect", "build", "--ir"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(message(&output).contains("give the recipe instead"), "{}", message(&output));
}
