//! From a preset to trained weights through the binary, on CPU XLA. Needs the PJRT plugin: `halite plugin install`.

use crate::program::CORPUS;
use halite_bundle::shards;
use halite_bundle::tensors::{self, Tensors};
use halite_tensor::{DType, HostTensor};
use std::path::Path;
use std::process::Command;

/// Runs a command that must succeed and returns what it prints as JSON. XLA's log is no part of that, nor is anything else.
fn halite(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.args(arguments).arg("--json").current_dir(folder).env_remove("TF_CPP_MIN_LOG_LEVEL");
    let output = command.output().unwrap();
    let written = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && written.is_empty(), "{arguments:?}: {written}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The standard error of a command that must fail with exit code 2.
fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_halite")).args(arguments).current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn runs_repeat_and_resume_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, steps: &str, more: &[&str]| {
        let all = ["train", "tiny", "--text", CORPUS, "--set", "seq=32", "--eval-every", "8", "--eval-batches", "2"];
        halite(folder.path(), &[&all, &["--steps", steps, "-o", name][..], more].concat())
    };
    let first = run("first", "24", &[]);
    run("second", "24", &[]);
    run("third", "16", &[]);
    run("third", "24", &["--resume", "third/state.safetensors"]);
    let read = |run: &str, file: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
    for file in ["state.safetensors", "metrics.jsonl", "loss.svg"] {
        assert!(read("first", file) == read("second", file), "{file} of two equal runs");
        assert!(read("first", file) == read("third", file), "{file} of a run that was resumed");
    }
    let metrics = String::from_utf8(read("first", "metrics.jsonl")).unwrap();
    let start: serde_json::Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    assert!((start["held_out_loss"].as_f64().unwrap() - 256f64.ln()).abs() < 0.1, "{start}");
    assert!(first["held_out_loss"].as_f64().unwrap() < 4.5, "{first}");
}

/// The recipe in the folder of a run names its data, and all else that the run needs to go on.
#[test]
fn a_run_goes_on_from_a_copy_of_its_folder() {
    goes_on_from_a_copy("tiny");
    goes_on_from_a_copy("bigram.hal");
    goes_on_from_a_copy("models/split.hal");
}

const BIGRAM: &str = "\
model bigram {
  config { batch = 2; seq = 32; vocab = 256; hidden = 4 }
  fn main(tokens: s32[batch, seq + 1]) {
    param table: [vocab, hidden] = normal(0.02)
    param head: [vocab, hidden] = normal(0.02)
    logits = linear(embedding(tokens[:, :seq], table), head)
    output logits
    loss, count = cross_entropy(logits, tokens[:, 1:])
    return loss, count
  }
}
";

/// The same in three texts.
const SPLIT: [(&str, &str); 3] = [
    (
        "models/split.hal",
        "\
use \"shared/parts.hal\": logits_of
use blocks: next_tokens

model split {
  config { batch = 2; seq = 32; vocab = 256; hidden = 4 }
  fn main(tokens: s32[batch, seq + 1]) {
    logits = logits_of(tokens[:, :seq], vocab, hidden)
    output logits
    loss, count = cross_entropy(logits, next_tokens(tokens))
    return loss, count
  }
}
",
    ),
    (
        "models/shared/parts.hal",
        "\
use \"tables/table.hal\": table

library parts {
  fn logits_of(ids, vocab, hidden) {
    return linear(embedding(ids, table(vocab, hidden) as table), table(vocab, hidden) as head)
  }
}
",
    ),
    (
        "models/shared/tables/table.hal",
        "\
library table {
  fn table(vocab, hidden) {
    param weight: [vocab, hidden] = normal(0.02)
    return weight
  }
}
",
    ),
];

fn goes_on_from_a_copy(model: &str) {
    let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&here, &elsewhere] {
        std::fs::copy(CORPUS, folder.path().join("book.txt")).unwrap();
    }
    std::fs::create_dir_all(here.path().join("models/shared/tables")).unwrap();
    for (name, text) in SPLIT.into_iter().chain([("bigram.hal", BIGRAM)]) {
        std::fs::write(here.path().join(name), text).unwrap();
    }
    let begin = ["train", model, "--text", "book.txt", "--held-out", "0.05", "--seed", "3", "--set", "seq=32"];
    let often = ["--eval-every", "3", "--eval-batches", "2", "--checkpoint-every", "2", "-o", "run", "--steps"];
    let begin = |steps| halite(here.path(), &[&begin[..], &often, &[steps]].concat());
    begin("6");
    let copied = Command::new("cp").arg("-r").args([here.path().join("run"), elsewhere.path().join("copy")]).status();
    assert!(copied.unwrap().success());
    let go_on = ["train", "copy/recipe.toml", "-o", "copy", "--steps", "10"];
    halite(elsewhere.path(), &go_on);
    let page = std::fs::read_to_string(elsewhere.path().join("copy/report.html")).unwrap();
    assert!(page.contains("update 10 of 10 "));
    begin("10");
    for file in ["state.safetensors", "metrics.jsonl", "recipe.toml"] {
        let read = |folder: &tempfile::TempDir, run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(read(&here, "run") == read(&elsewhere, "copy"), "{file}");
    }
}

/// One device, then a mesh of two by two: the same batches, and one line that says what changed.
#[test]
fn a_run_goes_on_on_another_layout() {
    let folder = tempfile::tempdir().unwrap();
    let all = |name: &str, steps: &str, more: &[&str]| {
        let all = ["train", "tiny", "--text", CORPUS, "--set", "seq=32", "--eval-every", "0", "--eval-batches", "1"];
        let all = [&all, &["--steps", steps, "-o", name][..], more].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |name: &str, steps: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
        command
            .args(all(name, steps, more))
            .arg("--json")
            .current_dir(folder.path())
            .env_remove("TF_CPP_MIN_LOG_LEVEL");
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        (serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["loss"].as_f64().unwrap(), told)
    };
    let mesh = ["--set", "batch=4", "--set", "parallel.data=2", "--set", "parallel.tensor=2"];
    let (whole, _) = run("whole", "6", &[]);
    run("parts", "4", &[]);
    let (loss, told) = run("parts", "6", &[&mesh[..], &["--resume", "parts/state.safetensors"]].concat());
    assert!((loss - whole).abs() < 1e-4 * whole, "{loss} {whole}");
    let told: serde_json::Value = serde_json::from_str(told.trim()).unwrap_or_else(|error| panic!("{error}: {told}"));
    let message = "the state `parts/state.safetensors` was saved on another layout: `data` was 1, now it is 2; \
                   `tensor` was 1, now it is 2";
    let found = told.as_array().map_or(&told, |all| &all[0]);
    assert_eq!((&found["code"], &found["message"]), (&"E0516".into(), &message.into()), "{told}");
    // With as many sequences for each rank as one device had, an update takes twice as many.
    let twice = ["--set", "batch=8", "--set", "parallel.data=2", "--resume", "whole/state.safetensors"];
    let twice = all("other", "8", &twice);
    let refused = fails(folder.path(), &twice.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.contains("`parallel.global_batch` was 8, now it is 16"), "{refused}");
}

#[test]
fn modules_run_by_the_names_of_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let go = |arguments: &[&str]| halite(folder.path(), arguments);
    go(&["compile", "tiny", "-o", "bundle", "--set", "batch=1", "--set", "seq=8", "--role", "eval,forward"]);
    go(&["init", "bundle", "-o", "state.safetensors", "--seed", "3"]);
    let tokens = HostTensor::from_ints(DType::S32, [1, 9], [72, 97, 108, 105, 116, 101, 33, 10, 72]);
    let batch = [("tokens".to_owned(), tokens)].into_iter().collect();
    tensors::write(&folder.path().join("batch.safetensors"), &batch).unwrap();
    let files = ["--inputs", "state.safetensors", "--inputs", "batch.safetensors", "--outputs", "out.safetensors"];
    go(&[&["run", "bundle", "--module", "eval"][..], &files].concat());
    let outputs = tensors::read(&folder.path().join("out.safetensors")).unwrap();
    assert_eq!(outputs["count"].f64s(), [8.0]);
    assert!((outputs["loss"].f64s()[0] / 8.0 - 256f64.ln()).abs() < 0.5);
    go(&[&["run", "bundle", "--module", "forward"][..], &files].concat());
    let outputs = tensors::read(&folder.path().join("out.safetensors")).unwrap();
    assert_eq!(outputs["logits"].shape().to_vec(), [1, 8, 256]);
}

/// Weights of a checkpoint of others, in `bf16` and without the name of the outer module, start a run with a new optimizer.
#[test]
fn weights_alone_start_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let go = |arguments: &[&str]| halite(folder.path(), arguments);
    let path = |name: &str| folder.path().join(name);
    go(&["compile", "tiny", "-o", "bundle", "--set", "layers=1", "--set", "batch=2", "--set", "seq=32"]);
    let run = |name: &str, steps: &str, more: &[&str]| {
        let all = ["train", "bundle", "--text", CORPUS, "--eval-every", "4", "--eval-batches", "1"];
        go(&[&all, &["--steps", steps, "-o", name][..], more].concat())
    };
    run("first", "4", &[]);
    let export = ["convert", "bundle", "first/state.safetensors", "-o", "model.safetensors"];
    go(&[&export[..], &["--weights-only", "--dtype", "bf16"]].concat());
    let checkpoint = tensors::read(&path("model.safetensors")).unwrap();
    assert!(checkpoint.values().all(|tensor| tensor.dtype() == DType::Bf16));
    let checkpoint: Tensors = checkpoint
        .into_iter()
        .map(|(name, tensor)| (name.strip_prefix("model.").unwrap_or(&name).to_owned(), tensor))
        .collect();
    std::fs::create_dir(path("checkpoint")).unwrap();
    shards::write(&path("checkpoint/model.safetensors"), &checkpoint, 100_000).unwrap();
    assert!(path("checkpoint/model.safetensors.index.json").is_file());

    let written = go(&["init", "bundle", "--weights", "checkpoint", "-o", "state.safetensors"]);
    assert_eq!((&written["weights"], written.get("seed")), (&serde_json::json!("checkpoint"), None));
    let state = tensors::read(&path("state.safetensors")).unwrap();
    assert!(state.iter().any(|(name, tensor)| name.starts_with("m.") && tensor.f64s().iter().all(|&m| m == 0.0)));
    let whole = ["init", "bundle", "--weights", "first/state.safetensors"];
    assert!(fails(folder.path(), &whole).contains("the model has no weight `m.model.embed_tokens.weight`"));
    // Both ways in are one: a run from the weights is the run from the state that they make.
    run("weights", "4", &["--weights", "checkpoint"]);
    run("state", "4", &["--resume", "state.safetensors"]);
    let read = |run: &str, file: &str| std::fs::read(path(run).join(file)).unwrap();
    for file in ["state.safetensors", "metrics.jsonl"] {
        assert!(read("weights", file) == read("state", file), "{file}");
    }
    let evals = |run: &str| {
        let text = String::from_utf8(read(run, "metrics.jsonl")).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        records.filter_map(|record| record["held_out_loss"].as_f64()).collect::<Vec<_>>()
    };
    // It starts where the other run ended, but for the bits that `bf16` lacks.
    let (ended, started) = (evals("first")[1], evals("weights")[0]);
    assert!((ended - started).abs() < 0.01 && evals("first")[0] - started > 0.1, "{ended} {started}");
}

/// Devices of the CPU share one pool of threads. On two cores, this model hung in its first update while XNNPACK worked on threads of it
/// (`runtime/src/pjrt/options.rs`); smaller ones, and those on the plain code of most tests, never did.
#[test]
fn replicas_of_a_model_that_fills_all_threads_do_not_wait_for_one_another_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [
        "layers=1",
        "hidden=256",
        "heads=4",
        "kv_heads=4",
        "ffn=512",
        "seq=128",
        "batch=1",
        "precision=fp32",
        "parallel.data=8",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command
        .args(["train", "tiny", "--text", CORPUS, "--steps", "2", "-o", "run"])
        .args(sizes.map(|size| format!("--set={size}")));
    let output = command.current_dir(folder.path()).env_remove("XLA_FLAGS").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
