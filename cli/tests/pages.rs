//! Pages and plots of runs and of memory, through the binary on CPU XLA.

use crate::program::CORPUS;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn halite(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    let output = command.args(arguments).arg("--quiet").current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn lines(folder: &Path, path: &str) -> Vec<Value> {
    text(folder, path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_on_text_ends_with_samples_and_says_what_compiling_took() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = |name: &str, steps: &str, more: &[&str]| {
        let all = ["train", "tiny", "--text", CORPUS, "--set", "seq=32", "--eval-batches", "2", "--steps", steps];
        halite(folder, &[&all, &["-o", name][..], more].concat())
    };
    run("first", "64", &[]);
    run("none", "64", &["--samples", "0"]);
    run("short", "63", &["--samples", "3"]);
    for file in ["metrics.jsonl", "state.safetensors", "loss.svg"] {
        let [with, without] = ["first", "none"].map(|name| std::fs::read(folder.join(name).join(file)).unwrap());
        assert!(with == without, "{file} depends on samples");
    }
    let samples = lines(folder, "first/samples.jsonl");
    let prompt = samples[0]["prompt"].as_str().unwrap();
    assert!(samples.len() == 2 && prompt.len() == 16 && text(folder, CORPUS).contains(prompt), "{samples:?}");
    assert_ne!(samples[0]["text"], samples[1]["text"]);
    assert!(samples.iter().all(|sample| sample["step"] == 64 && sample["prompt"] == prompt));
    let page = text(folder, "first/report.html");
    for part in ["Samples after update 64", "compiling, Halite", "compiling, cpu"] {
        assert!(page.contains(part), "{part}");
    }
    for name in ["none", "short"] {
        assert!(!folder.join(name).join("samples.jsonl").exists(), "{name}");
        assert!(!text(folder, &format!("{name}/report.html")).contains("Samples after"), "{name}");
    }
    // The same command of a run that ended makes the same samples; a longer one makes others, of its own update.
    run("first", "64", &[]);
    assert_eq!(lines(folder, "first/samples.jsonl"), samples);
    run("first", "66", &["--samples", "1"]);
    let [longer] = &lines(folder, "first/samples.jsonl")[..] else { panic!("one is asked for") };
    assert_eq!((&longer["step"], &longer["prompt"]), (&66.into(), &samples[0]["prompt"]));
    let startups = lines(folder, "first/startup.jsonl");
    let updates: Vec<_> = startups.iter().map(|startup| startup["update"].as_u64().unwrap()).collect();
    assert_eq!(updates, [0, 64, 64]);
    for startup in startups {
        assert!(startup["compile_seconds"].as_f64().unwrap() > 0.0 && startup["load_seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(startup["platform"], "cpu");
    }
}

#[test]
fn a_bundle_was_compiled_before_and_texts_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("html.txt"), "<script>&amp;</script>".repeat(300)).unwrap();
    halite(folder, &["compile", "tiny", "--set", "seq=32", "--target", "cpu", "-o", "bundle"]);
    halite(folder, &["train", "bundle", "--text", "html.txt", "--steps", "64", "--eval-batches", "1", "-o", "run"]);
    let [startup] = &lines(folder, "run/startup.jsonl")[..] else { panic!("one process") };
    assert!(startup.get("compile_seconds").is_none(), "{startup}");
    let page = text(folder, "run/report.html");
    assert!(page.contains("Samples after update 64") && page.contains("compiling, cpu"));
    assert!(!page.contains("compiling, Halite") && !page.contains("<script"), "{page}");
}

#[test]
fn the_memory_of_a_module_shows_its_layers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let layers = |arguments: &[&str]| {
        halite(folder, &[&["inspect"], arguments, &["--memory-plot", "memory.svg"]].concat());
        let svg = text(folder, "memory.svg");
        let texts = svg.split("<text ").skip(1).filter(|text| text.contains("opacity=\"0.8\""));
        texts.map(|text| text.split(">\n").nth(1).unwrap().lines().next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found = layers(&["tiny", "--target", "trn1", "--set", "layers=3"]);
    assert_eq!(found, ["0", "1", "2", "2", "1", "0"]);
    // Layers that share a function, whose instructions have the scopes of the first of them, are known by its calls.
    let mut shared = layers(&["tiny", "--target", "trn1", "--set", "layers=3", "--set", "emit.calls=compiler"]);
    shared.dedup();
    assert_eq!(shared, ["0", "1", "2", "1", "0"]);
}
