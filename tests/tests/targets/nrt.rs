//! Training on libnrt, of which a stand-in is opened: nothing here ran on a Neuron device.

#![allow(clippy::unwrap_used, reason = "this is test code")]

pub(crate) mod bench;
mod executor;
mod failing;
mod memory;
pub(crate) mod ranks;
mod refused;
pub(crate) mod stages;
mod strangers;

use bench::{Bench, bytes, run};
use halite_bundle::tensors;
use halite_tensor::HostTensor;

/// Updates of a run.
const STEPS: &str = "50";

#[test]
fn a_run_is_that_of_pjrt_to_the_bit() {
    let bench = Bench::new();
    let options = ["--steps", STEPS, "--eval-every", "4", "--eval-batches", "2", "--seed", "7"];
    run(bench.train("pjrt").args(options)).with(0, &[]);
    run(bench.train_on_nrt("nrt").args(options)).with(0, &[]);
    for file in ["metrics.jsonl", "state.safetensors", "recipe.toml"] {
        assert!(bytes(&bench, "pjrt", file) == bytes(&bench, "nrt", file), "{file}");
    }
    // Fifty updates, and evaluations at the start, in between and at the end.
    let journal = bench.journal();
    assert!(journal.ends_with(" alive [0, 0, 0, 0] wrong []\n") && journal.starts_with("runs 78 "), "{journal}");
}

#[test]
fn a_module_that_is_run_gives_what_it_gives_by_pjrt() {
    let bench = Bench::new();
    run(&mut bench.halite(&["init", "bundle", "-o", "state.safetensors"])).with(0, &[]);
    let fed = bench::usual().manifest.buffers.iter().find(|buffer| buffer.is_batch()).unwrap();
    let count: usize = fed.shape.iter().product();
    let tokens = HostTensor::from_ints(fed.dtype, fed.shape.as_slice(), (0..count as i128).map(|at| at * 7 % 250));
    tensors::write(&bench.at("batch.safetensors"), &[(fed.name.clone(), tokens)].into_iter().collect()).unwrap();
    let words = ["run", "bundle", "--module", "train_step", "--inputs", "state.safetensors"];
    let words = [&words[..], &["--inputs", "batch.safetensors", "--outputs"]].concat();
    run(bench.halite(&words).arg("pjrt.safetensors")).with(0, &[]);
    run(bench.on_nrt(bench.halite(&words).arg("nrt.safetensors"))).with(0, &[]);
    let read = |name: &str| std::fs::read(bench.at(name)).unwrap();
    assert!(read("pjrt.safetensors") == read("nrt.safetensors"));
    let several = run(bench.on_nrt(bench.halite(&words).arg("none")).env("RANK", "0").env("WORLD_SIZE", "2"));
    several.with(2, &["error[E0408]: the variable `WORLD_SIZE` is 2, the bundle runs on 1 rank"]);
}
