//! Inputs that are refused before anything runs.

use crate::nrt::bench::{Bench, compiled, run, usual};
use halite_bundle::ModuleEntry;
use halite_standin_nrt::StandInNeff;
use halite_tests::standin_nrt;
use std::path::Path;

const STEPS: [&str; 2] = ["--steps", "2"];

#[test]
fn a_library_that_is_none_is_named() {
    let bench = Bench::new();
    let missing = run(bench.on_library("run", Path::new("/none/libnrt.so.1")).args(STEPS));
    missing.with(
        3,
        &["error[E0714]: no libnrt: `/none/libnrt.so.1` is not a file", "help: install `aws-neuronx-runtime-lib`"],
    );
    let text = bench.at("text.txt");
    run(bench.on_library("run", &text).args(STEPS)).with(3, &["error[E0715]: cannot load libnrt `", "text.txt`: "]);
    let plugin = halite_runtime::find_plugin(None).unwrap();
    run(bench.on_library("run", &plugin).args(STEPS))
        .with(3, &["error[E0715]", "it has no function `nrt_get_version`"]);
}

#[test]
fn another_major_version_is_refused() {
    let bench = Bench::new();
    let refused = run(bench.train_on_nrt("run").args(STEPS).env("HALITE_STANDIN_NRT_VERSION", "3"));
    refused.with(3, &["error[E0715]: libnrt `", "is of version 3.0.0.0, this build uses version 2"]);
}

#[test]
fn a_runtime_that_does_not_start_says_why() {
    let bench = Bench::new();
    let failed = |order: &str| run(bench.train_on_nrt("run").args(STEPS).env("HALITE_STANDIN_NRT_FAIL", order));
    if Path::new("/dev/neuron0").exists() {
        failed("nrt_init:1").with(2, &["error[E0716]: `nrt_init` failed", "`neuron-ls`"]);
    } else {
        failed("nrt_init:1")
            .with(3, &["error[E0715]", "no `/dev/neuron0`", "help: on a Neuron instance, install `aws-neuronx-dkms`"]);
    }
    failed("nrt_init:4")
        .with(2, &["error[E0716]: `nrt_init` failed", "another process may have", "(NRT_RESOURCE, 4)", "`neuron-ls`"]);
    let none = run(bench.train_on_nrt("run").args(STEPS).env("HALITE_STANDIN_NRT_CORES", "0"));
    none.with(2, &["this process has no core", "`NEURON_RT_VISIBLE_CORES`"]);
}

#[test]
fn the_neff_of_another_program_is_refused() {
    let bench = Bench::new();
    let other = compiled(&["optimizer.adamw.lr=0.5"]);
    standin_nrt::compile(&other, &bench.bundle());
    let refused = run(bench.train_on_nrt("run").args(STEPS));
    let texts = [
        "error[E0718]: the NEFF of `train_step` is not that of this bundle: it was made of other HLO",
        "`halite neuron compile`",
    ];
    refused.with(2, &texts);

    standin_nrt::compile(usual(), &bench.bundle());
    std::fs::write(bench.neff(), standin_nrt::neff(&other, &other.manifest.modules[0]).to_bytes()).unwrap();
    run(bench.train_on_nrt("run").args(STEPS))
        .with(2, &["error[E0718]", "the file is not the one that the compiler left"]);

    let trn2 = compiled(&["target=trn2"]);
    standin_nrt::compile(&trn2, &bench.bundle());
    run(bench.train_on_nrt("run").args(STEPS))
        .with(2, &["error[E0718]", "it was compiled for `trn2`, the bundle is for `trn1`"]);

    std::fs::remove_file(bench.bundle().join("neff/train_step.json")).unwrap();
    run(bench.train_on_nrt("run").args(STEPS))
        .with(2, &["error[E0718]: nothing says of what the NEFF of `train_step` was made"]);
    std::fs::remove_file(bench.neff()).unwrap();
    run(bench.train_on_nrt("run").args(STEPS))
        .with(2, &["error[E0718]: the module `train_step` has no NEFF", "`halite neuron compile`"]);
}

/// Checks the messages for the NEFF of the training step after it was changed, with a record that vouches for it.
#[track_caller]
fn changed(change: impl FnOnce(&mut StandInNeff), texts: &[&str]) {
    let bench = Bench::new();
    let entry: &ModuleEntry = &usual().manifest.modules[0];
    let mut neff = standin_nrt::neff(usual(), entry);
    change(&mut neff);
    standin_nrt::put(usual(), entry, &bench.bundle(), &neff);
    run(bench.train_on_nrt("run").args(STEPS)).with(2, texts);
    assert!(bench.journal().ends_with("alive [0, 0, 0, 0] wrong []\n"), "{}", bench.journal());
}

#[test]
fn other_names_and_sizes_are_told() {
    changed(
        |neff| neff.inputs[3].name = "weight".into(),
        &["error[E0718]: the NEFF is not that of the program: it has no input `input03`"],
    );
    changed(
        |neff| neff.outputs[0].bytes += 4,
        &["error[E0718]", "its output `output00` has ", "bytes, that of the program "],
    );
    let more = |neff: &mut StandInNeff| neff.inputs.push(neff.inputs[0].clone());
    changed(more, &["error[E0718]", "it has 2 inputs called `input00`"]);
    let named = |neff: &mut StandInNeff| {
        more(neff);
        neff.inputs.last_mut().unwrap().name = "seed".into();
    };
    changed(named, &["error[E0718]", "it has the input `seed`, the program has none"]);
}

#[test]
fn other_hardware_cores_and_ranks_are_told() {
    changed(
        |neff| neff.target = "trn2".into(),
        &["`nrt_load` failed", "(NRT_HW_ERROR, 6)", "compiled for this instance"],
    );
    changed(|neff| neff.cores = 2, &["(NRT_LOAD_NOT_ENOUGH_NC, 9)", "`NEURON_LOGICAL_NC_CONFIG`"]);
    changed(|neff| neff.ranks = 2, &["`nrt_load` failed", "(NRT_INVALID, 2)"]);
}

#[test]
fn files_of_other_formats_are_told() {
    let bench = Bench::new();
    let entry = &usual().manifest.modules[0];
    let written = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = standin_nrt::neff(usual(), entry).to_bytes();
        change(&mut bytes);
        standin_nrt::put_bytes(usual(), entry, &bench.bundle(), &bytes);
        run(bench.train_on_nrt("run").args(STEPS))
    };
    written(&|bytes| bytes[21] = b'7').with(2, &["(NRT_UNSUPPORTED_NEFF_VERSION, 10)", "one release of the SDK"]);
    written(&|bytes| bytes.fill(3)).with(2, &["`nrt_load` failed", "(NRT_INVALID, 2)"]);
    written(&|bytes| bytes.truncate(2000)).with(2, &["(NRT_INVALID, 2)"]);
}

#[test]
fn an_environment_that_is_not_the_bundle_s_is_refused() {
    let bench = Bench::new();
    let mut command = bench.train_on_nrt("run");
    command.args(STEPS).env("NEURON_RT_STOCHASTIC_ROUNDING_EN", "1").env_remove("NEURON_RT_EXEC_TIMEOUT");
    command.env("XLA_FLAGS", "--xla_dump_to=x");
    run(&mut command).with(
        2,
        &[
            "error[E0408]: the variable `NEURON_RT_STOCHASTIC_ROUNDING_EN` is `1`, the bundle needs `0`",
            "the variable `NEURON_RT_EXEC_TIMEOUT` is not set, the bundle needs `600`",
            "the variable `XLA_FLAGS` is set",
            "eval \"$(halite env bundle)\"",
        ],
    );
}

#[test]
fn what_halite_neuron_compile_leaves_is_that_of_the_bundle() {
    let bench = Bench::new();
    std::fs::remove_dir_all(bench.bundle().join("neff")).unwrap();
    let mut compile = bench.halite(&["neuron", "compile", "bundle", "--no-cache", "--jobs", "1"]);
    compile.arg("--neuronx-cc").arg(env!("CARGO_BIN_EXE_stand-in-neuronx-cc")).env_remove("XLA_FLAGS");
    run(&mut compile).with(0, &[]);
    let mut bundle = usual().clone();
    bundle.read_neffs(&bench.bundle()).unwrap();
    for entry in &usual().manifest.modules {
        assert_eq!(
            bundle.neff(entry).unwrap(),
            std::fs::read(bench.bundle().join(format!("neff/{}.neff", entry.name))).unwrap()
        );
    }
    // It is no program of the library that stands in here, as no real one is.
    run(bench.train_on_nrt("run").args(STEPS)).with(2, &["`nrt_load` failed", "(NRT_INVALID, 2)"]);
    // Compiling the recipe again takes them away, records too.
    usual().write(&bench.bundle()).unwrap();
    run(bench.train_on_nrt("run").args(STEPS)).with(2, &["error[E0718]: the module `train_step` has no NEFF"]);
}
