//! From a preset to trained weights through the binary, on CPU XLA. Needs the PJRT plugin: `halite plugin install`.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::tensors;
use halite_tensor::{DType, HostTensor};
use std::path::Path;
use std::process::Command;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/pride-and-prejudice.txt");

/// Runs a command that must succeed and returns what it prints as JSON.
fn halite(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    let output = command.args(arguments).arg("--json").current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
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
