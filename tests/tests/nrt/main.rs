//! Training on libnrt, of which a stand-in is opened: nothing here ran on a Neuron device.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod bench;
mod executor;
mod failing;
mod ranks;
mod refused;

use bench::{Bench, bytes, run};

/// Updates of a run.
const STEPS: &str = "10";

#[test]
fn a_run_is_that_of_pjrt_to_the_bit() {
    let bench = Bench::new();
    let options = ["--steps", STEPS, "--eval-every", "4", "--eval-batches", "2", "--seed", "7"];
    run(bench.train("pjrt").args(options)).with(0, &[]);
    run(bench.train_on_nrt("nrt").args(options)).with(0, &[]);
    for file in ["metrics.jsonl", "state.safetensors", "recipe.toml"] {
        assert!(bytes(&bench, "pjrt", file) == bytes(&bench, "nrt", file), "{file}");
    }
    // Ten updates, and evaluations at the start, in between and at the end.
    let journal = bench.journal();
    assert!(journal.ends_with(" alive [0, 0, 0, 0] wrong []\n") && journal.starts_with("runs 18 "), "{journal}");
}
