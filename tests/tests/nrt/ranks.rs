//! Ranks that are processes, started by the launch script.

use crate::bench::{Bench, bytes, compiled, run};
use halite_bundle::Bundle;
use std::sync::OnceLock;

/// On data 2 and tensor 2, with the state of the optimizer along data too. Trainium 1 takes no groups of four ranks; the stand-in does.
fn four() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        compiled(&["parallel.data=2", "parallel.tensor=2", "parallel.zero=1", "neuron.allow=[\"group-size\"]"])
    })
}

#[test]
fn fifty_updates_of_four_processes_are_those_of_the_cpu() {
    let bench = Bench::of(four());
    let options = ["--steps", "50", "--eval-every", "25", "--eval-batches", "1", "--save-every", "20", "--seed", "7"];
    run(bench.train("pjrt").args(options)).with(0, &[]);
    let words = ["--", "--text", "text.txt", "--quiet", "-o", "nrt"];
    run(&mut bench.launch(&[&words[..], &options].concat())).with(0, &[]);
    for file in ["metrics.jsonl", "recipe.toml"] {
        assert!(bytes(&bench, "pjrt", file) == bytes(&bench, "nrt", file), "{file}");
    }
    assert!(!bench.at("nrt/state.safetensors").exists());
    let state = halite_bundle::tensors::read(&bench.at("nrt/state.safetensors.index.json")).unwrap();
    assert!(state == halite_bundle::tensors::read(&bench.at("pjrt/state.safetensors")).unwrap());
    let journal = bench.journal();
    // Fifty updates, and evaluations at the start, in between and at the end, of each rank.
    let line = "runs 53 alive [0, 0, 0, 0] wrong []\n";
    assert_eq!(journal, line.repeat(4));
}
