//! Runs that are killed at any moment and go on. Needs the PJRT plugin: `halite plugin install`.
//!
//! `HALITE_KILLS` is how often a run is killed, 3 by default; it has ten updates for each kill, and ten more. With 50 and more it is
//! killed in both precisions on both layouts.

#![allow(clippy::print_stdout, reason = "this is test code")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

/// Updates between checkpoints.
const EVERY: u64 = 5;

/// Sequences in each update and the table `parallel`.
type Layout = (u32, &'static str);

const ALONE: Layout = (4, "");
const MESH: Layout = (2, "parallel = { data = 2, tensor = 4, zero = 1 }");
const OTHER_MESH: Layout = (1, "parallel = { data = 4, tensor = 2 }");

/// A Llama of one layer of `tiny` with a vocabulary of 2,048, on paragraphs of a book that are packed.
fn recipe(precision: &str, (batch, parallel): Layout) -> String {
    format!(
        r#"
halite = 1
batch = {batch}
seq = 64
precision = "{precision}"
{parallel}

[model]
name = "llama"
config = {{ vocab = 2048, hidden = 64, layers = 1, heads = 4, kv_heads = 4, ffn = 176, packed = true }}

[optimizer.adamw]
lr = 1e-3

[train]
eval_every = 20
eval_batches = 1

[checkpoint]
every = {EVERY}
keep = 2

[data]
tokenizer = "{DATA}/bpe-2048.json"
buffer = 16384

[[data.sources]]
files = ["{DATA}/pride-and-prejudice.txt"]
documents = "blank"
part = "0..0.9"

[[data.held_out]]
files = ["{DATA}/pride-and-prejudice.txt"]
documents = "blank"
part = "0.9..1"
"#
    )
}

/// `halite train` on a recipe in the folder for so many updates.
fn train(folder: &Path, recipe: &str, run: &str, steps: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.args(["train", recipe, "-o", run, "--quiet", "--steps", &steps.to_string()]);
    command.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The newest folder of a checkpoint, whole or not.
fn newest(run: &Path) -> u64 {
    let entries = std::fs::read_dir(run.join("checkpoints")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).max().unwrap_or(0)
}

/// Waits until a run has begun a checkpoint of this update or a later one; whether it still runs.
fn reaches(running: &mut Child, run: &Path, update: u64) -> bool {
    let start = Instant::now();
    while newest(run) < update {
        if running.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "waited for update {update}");
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// A splitmix64 generator, so that all runs of the test are alike.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn kills() -> u64 {
    std::env::var("HALITE_KILLS").map_or(3, |kills| kills.parse().unwrap())
}

/// Kills a run again and again, each time some microseconds after a checkpoint is begun, so also while it is written or data are read;
/// each start takes the next of the recipes. The last start comes to the end. Returned is how many updates there are.
fn kill_and_go_on(folder: &Path, recipes: &[&str], mut seed: u64) -> u64 {
    let (kills, run, mut killed) = (kills(), folder.join("killed"), 0);
    let steps = 10 * kills + 10;
    let mut recipes = recipes.iter().cycle();
    let mut start = || train(folder, recipes.next().unwrap(), "killed", steps);
    for kill in 1..=kills {
        let mut running = start().spawn().unwrap();
        let update = (10 * kill - EVERY * (next(&mut seed) % 2)).max(newest(&run) + EVERY);
        let is_running = reaches(&mut running, &run, update);
        std::thread::sleep(Duration::from_micros(next(&mut seed) % 20_000));
        killed += u64::from(is_running && running.kill().is_ok());
        let ended = running.wait_with_output().unwrap();
        assert!(ended.status.code().is_none_or(|code| code == 0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert!(killed >= kills.div_ceil(2), "only {killed} runs were killed before their end");
    to_end(start());
    steps
}

fn to_end(mut command: Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Losses and state are those of a run that nobody disturbed, bit for bit.
fn ends_like_one_that_is_not(precision: &str, layout: Layout, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("recipe.toml"), recipe(precision, layout)).unwrap();
    let steps = kill_and_go_on(folder.path(), &["recipe.toml"], seed);
    to_end(train(folder.path(), "recipe.toml", "whole", steps));
    for file in ["metrics.jsonl", "state.safetensors", "loss.svg", "recipe.toml"] {
        let read = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(read("killed") == read("whole"), "{precision} {layout:?}: {file}");
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_one_that_is_not() {
    ends_like_one_that_is_not("mixed", ALONE, 1);
    if kills() >= 50 {
        ends_like_one_that_is_not("bf16-sr", ALONE, 2);
    }
}

#[test]
fn a_run_on_a_mesh_that_is_killed_again_and_again_ends_like_one_that_is_not() {
    ends_like_one_that_is_not("bf16-sr", MESH, 3);
    if kills() >= 50 {
        ends_like_one_that_is_not("mixed", MESH, 4);
    }
}

/// The losses of the updates of a run.
fn losses(run: &Path) -> Vec<f64> {
    let metrics = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let values = metrics.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    values.filter_map(|value| value["loss"].as_f64()).collect()
}

#[test]
fn a_run_that_is_killed_and_goes_on_on_another_layout_has_the_losses_of_one_that_stayed() {
    let folder = tempfile::tempdir().unwrap();
    let layouts = [("mesh.toml", MESH), ("alone.toml", ALONE), ("other.toml", OTHER_MESH)];
    for (name, layout) in layouts {
        std::fs::write(folder.path().join(name), recipe("fp64", layout)).unwrap();
    }
    let steps = kill_and_go_on(folder.path(), &layouts.map(|(name, _)| name), 5);
    to_end(train(folder.path(), "alone.toml", "whole", steps));
    let [moved, stayed] = ["killed", "whole"].map(|run| losses(&folder.path().join(run)));
    assert_eq!((moved.len() as u64, stayed.len() as u64), (steps, steps));
    let apart = moved.iter().zip(&stayed).map(|(a, b)| (a - b).abs() / b).fold(0.0, f64::max);
    println!("losses are at most {apart:e} apart");
    assert!(apart <= 1e-9, "{apart:e}");
}
