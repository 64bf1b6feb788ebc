//! Studies of recipes through the binary, on CPU XLA. Needs the PJRT plugin: `halite plugin install`.

use crate::program::CORPUS;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SMALL: [&str; 13] = [
    "--text",
    CORPUS,
    "--set=batch=2",
    "--set=seq=16",
    "--set=layers=1",
    "--set=hidden=32",
    "--set=ffn=48",
    "--steps",
    "6",
    "--every=3",
    "--eval-every=2",
    "--eval-batches=2",
    "--json",
];

/// Runs a study of a small model and returns its data.
fn study(folder: &Path, name: &str, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.arg("numerics").args(arguments).args(SMALL).args(["-o", name]).current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(folder.join(name).join("numerics.json")).unwrap()).unwrap()
}

fn recipe<'a>(study: &'a Value, name: &str) -> &'a Value {
    study["report"]["recipes"].as_array().unwrap().iter().find(|recipe| recipe["name"] == name).unwrap()
}

/// All gradient errors of all runs of a recipe.
fn gradient_errors(study: &Value, name: &str) -> Vec<f64> {
    let runs = recipe(study, name)["runs"].as_array().unwrap().iter();
    let measured = runs.flat_map(|run| run["gradient_errors"].as_array().unwrap());
    let errors = measured.flat_map(|measured| measured["by_layer"].as_array().unwrap());
    errors.map(|error| error.as_f64().unwrap()).collect()
}

#[test]
fn studies_repeat_bit_for_bit_and_say_what_precision_does() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("master.toml"), "precision = { recipe = 'bf16', master = 'f32' }\n").unwrap();
    let arguments = ["mixed", "master.toml", "--seeds", "0,1"];
    let first = study(folder.path(), "first", &arguments);
    assert_eq!(study(folder.path(), "second", &arguments), first);
    let read = |name: &str| std::fs::read(folder.path().join(name).join("numerics.svg")).unwrap();
    assert!(read("first") == read("second"));

    let names: Vec<_> = first["report"]["recipes"].as_array().unwrap().iter().map(|recipe| &recipe["name"]).collect();
    assert_eq!(names, ["mixed", "master", "fp64"]);
    assert_eq!(
        first["report"]["layers"],
        serde_json::json!(["model.embed_tokens", "model.layers.0", "model.norm", "lm_head"])
    );
    // Two seeds, two measurements, four layers.
    assert_eq!(gradient_errors(&first, "fp64"), [0.0; 16]);
    assert!(gradient_errors(&first, "mixed").into_iter().all(|error| error > 1e-4 && error < 0.1));
    assert!(recipe(&first, "master")["state_bytes_per_parameter"].as_f64().unwrap() > 9.9);

    // The runs of a seed start from one state, those of different seeds do not.
    let start =
        |name: &str, seed: usize| recipe(&first, name)["runs"][seed]["evals"][0]["held_out_loss"].as_f64().unwrap();
    for name in ["mixed", "master"] {
        assert!((start(name, 0) - start("fp64", 0)).abs() < 1e-3, "{name}");
    }
    assert!((start("fp64", 0) - start("fp64", 1)).abs() > 1e-6);
}

#[test]
fn a_run_that_diverges_is_a_result() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wild.toml"), "optimizer.sgd.lr = 1e30\n").unwrap();
    let study = study(folder.path(), "out", &["fp32", "wild.toml"]);
    let (tame, wild) = (&recipe(&study, "fp32")["runs"][0], &recipe(&study, "wild")["runs"][0]);
    assert_eq!((&tame["diverged"], tame["steps"].as_array().unwrap().len()), (&Value::Null, 6));
    let last = wild["diverged"].as_u64().unwrap();
    // In an update, or in what is held out after it: gradients are clipped as they are by the recipe that it is laid over.
    let steps = wild["steps"].as_array().unwrap().len() as u64;
    assert!(last < 6 && (last - 1..=last).contains(&steps), "{wild}");
    let summary = study["summary"].as_array().unwrap();
    assert_eq!(summary.iter().map(|recipe| recipe["diverged"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 0]);
    assert!(gradient_errors(&study, "fp32").into_iter().all(|error| error > 0.0 && error < 1e-5));
    let plot = std::fs::read_to_string(folder.path().join("out/numerics.svg")).unwrap();
    assert!(plot.contains("wild  1 of 1 diverged"));
}
