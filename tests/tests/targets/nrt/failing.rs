//! Failures during a run.

use crate::nrt::bench::{Bench, bytes, compiled, run};
use halite_runtime::NrtStatus;

/// A run whose only executions are updates: nothing is evaluated.
const UPDATES: [&str; 6] = ["--steps", "6", "--held-out", "0", "--checkpoint-every", "2"];

/// Every status of `nrt_status.h` but success.
const STATUSES: [(i32, &str); 27] = [
    (1, "NRT_FAILURE"),
    (2, "NRT_INVALID"),
    (3, "NRT_INVALID_HANDLE"),
    (4, "NRT_RESOURCE"),
    (5, "NRT_TIMEOUT"),
    (6, "NRT_HW_ERROR"),
    (7, "NRT_QUEUE_FULL"),
    (9, "NRT_LOAD_NOT_ENOUGH_NC"),
    (10, "NRT_UNSUPPORTED_NEFF_VERSION"),
    (11, "NRT_FAIL_HOST_MEM_ALLOC"),
    (13, "NRT_UNINITIALIZED"),
    (14, "NRT_CLOSED"),
    (15, "NRT_QUEUE_EMPTY"),
    (101, "NRT_EXEC_UNIT_UNRECOVERABLE"),
    (1002, "NRT_EXEC_BAD_INPUT"),
    (1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"),
    (1004, "NRT_EXEC_COMPLETED_WITH_ERR"),
    (1005, "NRT_EXEC_NC_BUSY"),
    (1006, "NRT_EXEC_OOB"),
    (1100, "NRT_COLL_PENDING"),
    (1200, "NRT_EXEC_HW_ERR_COLLECTIVES"),
    (1201, "NRT_EXEC_HW_ERR_HBM_UE"),
    (1202, "NRT_EXEC_HW_ERR_NC_UE"),
    (1203, "NRT_EXEC_HW_ERR_DMA_ABORT"),
    (1204, "NRT_EXEC_SW_NQ_OVERFLOW"),
    (1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"),
    (1206, "NRT_NETWORK_PROXY_FAILURE"),
];

#[test]
fn a_failed_update_loses_no_saved_state() {
    let bench = Bench::new();
    run(bench.train_on_nrt("whole").args(UPDATES)).with(0, &[]);
    let failed = run(bench.train_on_nrt("run").args(UPDATES).env("HALITE_STANDIN_NRT_FAIL", "nrt_execute:1200@6"));
    failed.with(
        75,
        &[
            "error[E0716]: `nrt_execute` failed: a collective hangs",
            "(NRT_EXEC_HW_ERR_COLLECTIVES, 1200)",
            "`train_step` was called after 5 whole updates; update 6 was not made",
            "the state that was saved last is whole: `--resume run/state.safetensors`",
        ],
    );
    let metrics = String::from_utf8(bytes(&bench, "run", "metrics.jsonl")).unwrap();
    // Of one more update than the state, which was saved after the fourth.
    assert_eq!(metrics.lines().count(), 5, "{metrics}");
    // What was freed after the failure was freed once, and nothing stayed.
    assert!(bench.journal().ends_with("alive [0, 0, 0, 0] wrong []\n"), "{}", bench.journal());

    let resume = ["--resume", "run/state.safetensors"];
    run(bench.train_on_nrt("run").args(UPDATES).args(resume)).with(0, &[]);
    for file in ["metrics.jsonl", "state.safetensors"] {
        assert!(bytes(&bench, "run", file) == bytes(&bench, "whole", file), "{file}");
    }
}

#[test]
fn a_failed_first_update_says_that_nothing_was_saved() {
    let bench = Bench::new();
    let failed = run(bench.train_on_nrt("run").args(UPDATES).env("HALITE_STANDIN_NRT_FAIL", "nrt_execute:1006@1"));
    failed.with(2, &["(NRT_EXEC_OOB, 1006)", "update 1 was not made", "no state was saved before"]);
    assert!(!bench.at("run/state.safetensors").exists());
}

#[test]
fn every_status_says_what_it_means_and_what_to_do() {
    let bench = Bench::of(&compiled(&["hidden=16", "heads=2", "kv_heads=2", "ffn=16"]));
    assert!(STATUSES.iter().map(|(number, _)| *number).eq(NrtStatus::all().map(NrtStatus::number)));
    let until = |steps| ["--held-out", "0", "--checkpoint-every", "2", "--steps", steps];
    run(bench.train_on_nrt("before").args(until("16"))).with(0, &[]);
    let resume = ["--resume", "before/state.safetensors"];
    run(bench.train_on_nrt("saved").args(until("18")).args(resume)).with(0, &[]);
    let (saved, measured) = (bytes(&bench, "saved", "state.safetensors"), bytes(&bench, "saved", "metrics.jsonl"));
    for (number, name) in STATUSES {
        // After it the numbers are looked at: the test of these has it.
        if name == "NRT_EXEC_COMPLETED_WITH_NUM_ERR" {
            continue;
        }
        let order = format!("nrt_execute:{number}@4");
        let mut command = bench.train_on_nrt(name);
        let failed = run(command.args(until("20")).args(resume).env("HALITE_STANDIN_NRT_FAIL", order));
        let meaning = NrtStatus::new(number).unwrap().meaning();
        let status = format!("({name}, {number})");
        let kept = format!("the state that was saved last is whole: `--resume {name}/state.safetensors`");
        let texts =
            ["error[E0716]: `nrt_execute` failed: ", meaning, &status, "update 20 was not made", &kept, "help: "];
        failed.with(75, &texts);
        // As promised: the state after update 18, and what was measured up to update 19.
        assert!(bytes(&bench, name, "state.safetensors") == saved, "{name}");
        let metrics = bytes(&bench, name, "metrics.jsonl");
        assert!(metrics.starts_with(&measured) && metrics.iter().filter(|byte| **byte == b'\n').count() == 3, "{name}");
    }
    let unknown = run(bench.train_on_nrt("run").args(UPDATES).env("HALITE_STANDIN_NRT_FAIL", "nrt_load:77"));
    unknown.with(2, &["`nrt_load` failed: it answers with a status that no header", "(status 77)"]);
}

#[test]
fn a_call_that_does_not_come_back_is_given_up() {
    let bench = Bench::new();
    let mut command = bench.train_on_nrt("run");
    command.args(UPDATES).args(["--call-timeout", "5s"]).env("HALITE_STANDIN_NRT_HANG", "nrt_execute@3");
    let texts =
        ["error[E0717]: `nrt_execute` did not come back within 5 s", "update 3 was not made", "--resume run/state"];
    run(&mut command).with(75, &texts);
    assert_eq!(bench.journal(), "", "nothing is called any more");
}

#[test]
fn a_timeout_of_the_library_names_the_limit() {
    let bench = Bench::new();
    let failed = run(bench.train_on_nrt("run").args(UPDATES).env("HALITE_STANDIN_NRT_FAIL", "nrt_execute:5@1"));
    failed.with(2, &["(NRT_TIMEOUT, 5)", "`neuron.environment.NEURON_RT_EXEC_TIMEOUT`"]);
}

#[test]
fn numbers_that_are_none_are_for_the_recipe() {
    let stopping = Bench::of(&compiled(&["nonfinite=stop"]));
    // Whether the library says so or not.
    for (name, order) in [("quiet", "3"), ("told", "3:1003")] {
        let stopped = run(stopping.train_on_nrt(name).args(UPDATES).env("HALITE_STANDIN_NRT_NAN", order));
        stopped.with(1, &["error[E0708]: update 3 is not finite"]);
    }
    let skipping = Bench::of(&compiled(&["nonfinite=skip"]));
    run(skipping.train_on_nrt("run").args(UPDATES).env("HALITE_STANDIN_NRT_NAN", "3:1003")).with(0, &[]);
}
