//! Runs that are killed at any moment and go on. Needs the PJRT plugin: `halite plugin install`.
//!
//! `HALITE_KILLS` is how often a run is killed, 5 by default; it has ten updates for each kill, and ten more.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/pride-and-prejudice.txt");

/// Updates between checkpoints.
const EVERY: u64 = 5;

/// `halite train` on a small model for so many updates.
fn train(folder: &Path, name: &str, steps: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    command.args(["train", "tiny", "--text", CORPUS, "--eval-every", "20", "--eval-batches", "1", "-o", name]);
    command.args(["--set", "layers=1", "--set", "batch=2", "--set", "seq=16", "--quiet"]);
    command.args(["--steps", &steps.to_string(), "--checkpoint-every", &EVERY.to_string(), "--keep", "2"]);
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

/// Each kill comes some microseconds after a checkpoint is begun, so also while it is written; the last start comes to the end. Losses
/// and state are those of a run that nobody disturbed, bit for bit.
#[test]
fn a_run_that_is_killed_again_and_again_ends_like_one_that_is_not() {
    let kills: u64 = std::env::var("HALITE_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let (folder, steps, mut seed) = (tempfile::tempdir().unwrap(), 10 * kills + 10, 1);
    let run = folder.path().join("killed");
    let mut killed = 0;
    for kill in 1..=kills {
        let mut running = train(folder.path(), "killed", steps).spawn().unwrap();
        let update = (10 * kill - EVERY * (next(&mut seed) % 2)).max(newest(&run) + EVERY);
        let is_running = reaches(&mut running, &run, update);
        std::thread::sleep(Duration::from_micros(next(&mut seed) % 20_000));
        killed += u64::from(is_running && running.kill().is_ok());
        let ended = running.wait_with_output().unwrap();
        assert!(ended.status.code().is_none_or(|code| code == 0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert!(killed >= kills.div_ceil(2), "only {killed} runs were killed before their end");
    for name in ["killed", "whole"] {
        let output = train(folder.path(), name, steps).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for file in ["metrics.jsonl", "state.safetensors", "loss.svg", "recipe.toml"] {
        let read = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(read("killed") == read("whole"), "{file}");
    }
}
