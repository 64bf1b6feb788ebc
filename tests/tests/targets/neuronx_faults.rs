//! `halite neuron compile` under faults, driven from outside with the stand-in for `neuronx-cc`: whatever dies when, the
//! store holds whole entries only, no log is lost, and the next run gets the same bytes.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod bench;
mod kills;

use bench::{Bench, MODULES};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs with a fault in `train_step` and returns what was said; the other modules must be compiled.
fn fails_with(bench: &Bench, fault: &str, arguments: &[&str]) -> String {
    let mut command = bench.compile(arguments);
    command.env("STAND_IN_FAULT", fault).env("STAND_IN_FAULT_IN", "train_step");
    let said = bench::run(&mut command, 1);
    assert!(!bench.neff("train_step").exists(), "{said}");
    assert!(bench.neff("forward").exists() && bench.neff("eval").exists(), "{said}");
    assert!(bench.neff("train_step").with_extension("log").exists(), "the log is kept: {said}");
    assert!(said.contains("everything it wrote is in"), "{said}");
    bench.check_store();
    said
}

/// A fault, then a run without it that must succeed with the right bytes.
fn recovers_from(fault: &str, arguments: &[&str], parts: &[&str]) {
    let bench = Bench::new();
    let said = fails_with(&bench, fault, arguments);
    for part in parts {
        assert!(said.contains(part), "{part} in\n{said}");
    }
    bench.succeeds();
}

#[test]
fn a_clean_run_compiles_once_and_is_cached_then() {
    let bench = Bench::new();
    let said = bench.succeeds();
    assert_eq!(said.matches("  compiled  ").count(), 3, "{said}");
    assert_eq!(bench.started(), 3);
    std::fs::remove_dir_all(bench.output()).unwrap();
    let said = bench.succeeds();
    assert_eq!((said.matches("  cached  ").count(), bench.started()), (3, 3), "{said}");
    let listed = bench::run(&mut bench.halite(&["neuron", "cache", "ls"]), 0);
    assert!(listed.contains("llama.train_step") && listed.contains("+standin"), "{listed}");
    let removed = bench::run(&mut bench.halite(&["neuron", "cache", "gc", "--all"]), 0);
    assert!(removed.contains("removed 3 folders"), "{removed}");
    assert!(bench::run(&mut bench.halite(&["neuron", "cache", "ls"]), 0).starts_with("0 folders"));
}

#[test]
fn a_dry_run_tells_programs_what_would_be_run() {
    let bench = Bench::new();
    let plan = bench::run(&mut bench.compile(&["--dry-run", "--json"]), 0);
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let task = &plan["tasks"][0];
    assert_eq!((&task["arguments"][0], &task["modules"][0]), (&"compile".into(), &"train_step".into()));
    assert_eq!(task["flag_hash"].as_str().map(str::len), Some(8));
    assert_eq!(plan["environment"]["NEURON_RT_STOCHASTIC_ROUNDING_EN"], "0");
    assert_eq!(plan["tasks"].as_array().map(Vec::len), Some(MODULES.len()));
    assert_eq!(bench.started(), 0);
}

#[test]
fn a_documented_code_leads_to_its_meaning_and_the_line_of_the_model() {
    let parts =
        ["E0711", "EVRF056 means: a gather", "EVRF056.rst", "from <llama.hal>:", "its log is", "ended with code 70"];
    recovers_from("NCC_EVRF056", &[], &parts);
}

#[test]
fn faults_of_the_compiler_are_told_apart() {
    recovers_from("fail", &[], &["ended with code 70", "the log says: ERROR: the stand-in was asked to fail"]);
    recovers_from("crash", &[], &["ended by signal 6"]);
    recovers_from("silent", &[], &["reported success", "left no NEFF"]);
    recovers_from("partial", &[], &["no NEFF: it has 600 bytes"]);
    recovers_from("blank", &[], &["no NEFF: it holds zeros only"]);
}

#[test]
fn a_compiler_that_hangs_is_ended() {
    let start = Instant::now();
    recovers_from("hang", &["--timeout", "1s"], &["did not finish `train_step` within 1 s", "--timeout"]);
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn failed_compiles_are_not_stored() {
    let bench = Bench::new();
    fails_with(&bench, "NCC_EVRF056", &[]);
    let again = fails_with(&bench, "NCC_EVRF056", &[]);
    assert_eq!((again.matches("  cached  ").count(), bench.started()), (2, 4), "{again}");
}

#[test]
fn garbage_for_a_version_is_refused() {
    let bench = Bench::new();
    let mut command = bench.compile(&[]);
    let said = bench::run(command.env("STAND_IN_VERSION", "Segmentation fault"), 3);
    assert!(said.contains("E0710") && said.contains("`--version` printed: Segmentation fault"), "{said}");
    assert_eq!(bench.started(), 0);
    let other = "some banner\nNeuronX Compiler version 99.0.1+x";
    let said = bench::run(bench.compile(&[]).env("STAND_IN_VERSION", other), 0);
    assert!(said.contains("warning[E0410]") && said.contains("99.0.1+x"), "{said}");
    assert_eq!(bench.started(), 3);
    bench.succeeds();
    assert_eq!(bench.started(), 6, "another version is another key");
}

#[test]
fn a_missing_compiler_exits_with_3_and_a_dry_run_needs_none() {
    let bench = Bench::new();
    let said = bench::run(bench.halite(&["neuron", "compile", "bundle"]).env("PATH", ""), 3);
    assert!(said.contains("E0709") && said.contains("pip"), "{said}");
    let said = bench::run(bench.halite(&["neuron", "compile", "bundle", "--neuronx-cc", "/none"]).env("PATH", ""), 3);
    assert!(said.contains("`/none`"), "{said}");
    let said = bench::run(bench.halite(&["neuron", "compile", "bundle", "--dry-run"]).env("PATH", ""), 0);
    assert!(said.contains("neuronx-cc compile train_step.hlo.pb --framework XLA"), "{said}");
}

#[test]
fn the_script_of_a_dry_run_makes_the_same_neffs() {
    let bench = Bench::new();
    let script = bench::run(&mut bench.compile(&["--dry-run"]), 0);
    let mut shell = std::process::Command::new("bash");
    bench::run(shell.args(["-c", &script]).current_dir(bench.folder()), 0);
    bench.check_output();
}

#[test]
fn variables_that_change_programs_are_refused() {
    let bench = Bench::new();
    let said = bench::run(bench.compile(&[]).env("NEURON_CC_FLAGS", "--auto-cast=all"), 2);
    assert!(said.contains("E0408") && said.contains("unset NEURON_CC_FLAGS"), "{said}");
    // The launch script of HLAT exports it empty.
    let said = bench::run(bench.compile(&[]).env("NEURON_TRANSFER_WITH_STATIC_RING_OPS", ""), 2);
    assert!(said.contains("E0408") && said.contains("unset NEURON_TRANSFER_WITH_STATIC_RING_OPS"), "{said}");
    assert_eq!(bench.started(), 0);
}

#[test]
fn a_store_that_cannot_be_written_to_is_done_without_unless_it_is_asked_for() {
    let bench = Bench::new();
    let file = bench.folder().join("file");
    std::fs::write(&file, "").unwrap();
    for cache in [file.as_path(), Path::new("/proc/none")] {
        let said = bench::run(bench.compile(&[]).env("XDG_CACHE_HOME", cache), 0);
        assert!(said.contains("warning[E0713]") && said.contains("is not stored"), "{said}");
        bench.check_output();
        std::fs::remove_dir_all(bench.output()).unwrap();
        let said = bench::run(&mut bench.compile(&["--cache", cache.to_str().unwrap()]), 2);
        assert!(said.contains("error[E0713]") && said.contains("cannot be used"), "{said}");
    }
    bench::run(&mut bench.compile(&["--no-cache"]), 0);
    bench.check_output();
    assert_eq!(bench.started(), 9);
}

#[test]
fn without_a_store_only_failures_stay() {
    let bench = Bench::new();
    let place = bench.folder().join("tmp");
    std::fs::create_dir(&place).unwrap();
    let left = || std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    bench::run(bench.compile(&["--no-cache"]).env("TMPDIR", &place), 0);
    assert_eq!(left(), [] as [std::path::PathBuf; 0]);
    let mut command = bench.compile(&["--no-cache"]);
    let said =
        bench::run(command.env("TMPDIR", &place).envs([("STAND_IN_FAULT", "fail"), ("STAND_IN_FAULT_IN", "eval")]), 1);
    let store = &left()[0];
    let said_place = format!("everything it wrote is in `{}/failed/", store.display());
    assert!(said.contains(&said_place), "{said}");
    let kept: Vec<_> = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((left().len(), kept), (1, vec!["failed".into()]));
}

#[test]
fn a_list_of_the_store_makes_none() {
    let bench = Bench::new();
    let said = bench::run(&mut bench.halite(&["neuron", "cache", "ls", "--cache", "new"]), 0);
    assert!(said.starts_with("0 folders") && !bench.folder().join("new").exists(), "{said}");
}

#[test]
fn a_truncated_neff_in_the_store_is_made_again() {
    let bench = Bench::new();
    bench.succeeds();
    let entries: Vec<_> = std::fs::read_dir(bench.store().join("entries")).unwrap().flatten().collect();
    let neff = entries[0].path().join("model.neff");
    let bytes = std::fs::read(&neff).unwrap();
    std::fs::write(&neff, &bytes[..bytes.len() / 2]).unwrap();
    let said = bench.succeeds();
    assert!(said.contains("warning[E0713]") && said.contains("is damaged and is made again"), "{said}");
    assert_eq!((said.matches("  cached  ").count(), bench.started()), (2, 4), "{said}");
    bench.check_store();
}

#[test]
fn two_processes_compile_each_module_once() {
    let bench = Bench::new();
    let start = |output: &str| {
        let mut command = bench.compile(&["--jobs", "2", "--output", output]);
        command.env("STAND_IN_SLEEP", "300").spawn().unwrap()
    };
    let both = [start("one"), start("two")];
    let said = both.map(|process| bench::finish(process, 0));
    assert_eq!(bench.started(), 3, "{said:?}");
    assert!(said.iter().any(|said| said.contains("waiting for another process")), "{said:?}");
    for output in ["one", "two"] {
        bench.check_neffs(&bench.folder().join(output));
    }
    bench.check_store();
}

#[test]
fn a_bundle_for_the_cpu_is_refused() {
    let bench = Bench::new();
    bench::run(&mut bench.halite(&["compile", "tiny", "--role", "eval", "-o", "cpu"]), 0);
    let said = bench::run(&mut bench.halite(&["neuron", "compile", "cpu"]), 2);
    assert!(said.contains("the bundle is for `cpu`"), "{said}");
}
