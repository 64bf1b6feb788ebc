//! Ranks that are processes, started by the launch script.

use crate::nrt::bench::{Bench, Ended, bytes, compiled, run};
use halite_bundle::{Bundle, tensors};
use std::process::Command;
use std::sync::OnceLock;

/// Trainium 1 takes no groups of four ranks; the stand-in does.
pub(crate) const ALLOWED: &str = "neuron.allow=[\"group-size\"]";

/// On data 2 and tensor 2, with the state of the optimizer along data too.
pub(crate) fn four() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| compiled(&["parallel.data=2", "parallel.tensor=2", "parallel.zero=1", ALLOWED]))
}

#[test]
fn fifty_updates_of_four_processes_are_those_of_the_cpu() {
    let bench = Bench::of(four());
    let options =
        ["--steps", "50", "--eval-every", "25", "--eval-batches", "1", "--checkpoint-every", "20", "--seed", "7"];
    run(bench.train("pjrt").args(options)).with(0, &[]);
    let words = ["--", "--text", "text.txt", "--quiet", "-o", "nrt"];
    run(&mut bench.launch(&[&words[..], &options].concat())).with(0, &[]);
    for file in ["metrics.jsonl", "recipe.toml"] {
        assert!(bytes(&bench, "pjrt", file) == bytes(&bench, "nrt", file), "{file}");
    }
    assert!(!bench.at("nrt/state.safetensors").exists());
    let state = tensors::read(&bench.at("nrt/state.safetensors.index.json")).unwrap();
    assert!(state == tensors::read(&bench.at("pjrt/state.safetensors")).unwrap());
    let journal = bench.journal();
    // Fifty updates, and evaluations at the start, in between and at the end, of each rank.
    let line = "runs 53 alive [0, 0, 0, 0] wrong []\n";
    assert_eq!(journal, line.repeat(4));
}

/// Options of a run whose only executions are updates.
pub(crate) const UPDATES: [&str; 9] =
    ["--text", "text.txt", "--steps", "8", "--held-out", "0", "--checkpoint-every", "4", "--quiet"];

/// The index of the state of a run.
pub(crate) const INDEX: &str = "safetensors.index.json";

/// A run by the script in which the stand-in of one rank has an order.
fn with_order(bench: &Bench, rank: &str, order: &str) -> Command {
    let program = r#"
        if [ "$RANK" = "$1" ]; then export "$2"; fi
        shift 2
        exec halite train bundle --executor nrt "$@""#;
    let words = ["--", "bash", "-c", program, "of-one-rank", rank, order, "-o", "run"];
    bench.launch(&[&words[..], &UPDATES].concat())
}

/// Goes on from the state that is there, on CPU XLA, and compares with a run that nothing ended.
fn resumes_as_if_nothing_was(bench: &Bench) {
    run(bench.halite(&["train", "bundle", "-o", "whole"]).args(UPDATES)).with(0, &[]);
    let state = format!("run/state.{INDEX}");
    run(bench.halite(&["train", "bundle", "-o", "run", "--resume", &state]).args(UPDATES)).with(0, &[]);
    for file in ["metrics.jsonl", "state.safetensors"] {
        assert!(bytes(bench, "run", file) == bytes(bench, "whole", file), "{file}");
    }
    // The state is in one file now, and no part of the other is left.
    let files = std::fs::read_dir(bench.at("run")).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let expected = [
        "checkpoints",
        "events.jsonl",
        "loss.svg",
        "metrics.jsonl",
        "recipe.toml",
        "report.html",
        "run.lock",
        "startup.jsonl",
        "state.safetensors",
        "timing.jsonl",
    ];
    assert_eq!(files, expected);
}

#[test]
fn a_rank_that_is_killed_ends_the_others_and_no_saved_state() {
    let bench = Bench::of(four());
    let Ended { code, errors } = run(&mut with_order(&bench, "2", "HALITE_STANDIN_NRT_DIE=nrt_execute@7"));
    // That of the rank that was killed, or of one that ended since it is gone.
    assert!([128 + 9, 75].contains(&code), "{code}: {errors}");
    for text in ["launch: rank ", "the others are ended", "error[E0719]: `nrt_execute` was given up: rank 2 is gone"] {
        assert!(errors.contains(text), "`{text}` is not in: {errors}");
    }
    resumes_as_if_nothing_was(&bench);
}

#[test]
fn a_rank_that_fails_is_named_by_all() {
    let bench = Bench::of(four());
    let order = "HALITE_STANDIN_NRT_FAIL=nrt_execute:1202@6";
    let failed = run(&mut with_order(&bench, "1", order));
    // Both of the rank that failed, and of one that ended since it did.
    assert_eq!(failed.code, 75, "{}", failed.errors);
    for text in [
        "error[E0716]: `nrt_execute` failed: memory of the core has a parity error",
        "error[E0719]: `nrt_execute` was given up: rank 1 failed: `nrt_execute` failed: memory of the core",
        "update 6 was not made",
        "`--resume run/state.safetensors.index.json`",
    ] {
        assert!(failed.errors.contains(text), "`{text}` is not in: {}", failed.errors);
    }
    assert!(failed.errors.lines().any(|line| line.starts_with("rank 1: ")), "{}", failed.errors);
    resumes_as_if_nothing_was(&bench);
}

/// None of them failed, and each says that it was stopped.
#[test]
fn a_rank_that_is_told_to_stop_stops_all_with_the_code_of_a_signal() {
    let bench = Bench::of(four());
    let program = r#"
        halite train bundle --executor nrt "$@" &
        if [ "$RANK" = 2 ]; then
            while [ ! -d run/checkpoints ]; do sleep 0.05; done
            kill -TERM $!
        fi
        wait $!
        echo $? >"code.$RANK""#;
    let words = [
        "--",
        "bash",
        "-c",
        program,
        "of-all",
        "-o",
        "run",
        "--text",
        "text.txt",
        "--steps",
        "100000",
        "--held-out",
        "0",
    ];
    run(&mut bench.launch(&[&words[..], &["--checkpoint-every", "4", "--quiet"]].concat()))
        .with(0, &["a signal to another rank stopped the run after update "]);
    let codes = [0, 1, 2, 3].map(|rank| std::fs::read_to_string(bench.at(&format!("code.{rank}"))).unwrap());
    assert_eq!(codes, ["143\n"; 4]);
    assert!(bench.at(&format!("run/state.{INDEX}")).is_file());
}

#[test]
fn a_state_in_parts_goes_on_in_other_forms() {
    let bench = Bench::of(four());
    let words = ["--", "-o", "run"];
    run(&mut bench.launch(&[&words[..], &UPDATES].concat())).with(0, &[]);
    let state = format!("run/state.{INDEX}");
    let convert = |more: &[&str]| bench.halite(&[&["convert", "bundle", &state][..], more].concat());
    run(&mut convert(&["-o", "one.safetensors"])).with(0, &[]);
    assert!(tensors::read(&bench.at("one.safetensors")).unwrap() == tensors::read(&bench.at(&state)).unwrap());
    run(&mut convert(&["--weights-only", "-o", "weights.safetensors"])).with(0, &[]);
    run(&mut bench.halite(&["init", "bundle", "--weights", "weights.safetensors", "-o", "new"])).with(0, &[]);
    // On again in four processes, also from one file.
    for from in [state.as_str(), "one.safetensors"] {
        let words = ["--", "--resume", from, "-o", from.split_once('/').map_or("on", |(run, _)| run)];
        run(&mut bench.launch(&[&words[..], &UPDATES].concat())).with(0, &[]);
    }
    assert!(
        tensors::read(&bench.at("on/state.safetensors.index.json")).unwrap()
            == tensors::read(&bench.at(&state)).unwrap()
    );

    // A part that is of another save is told, and so is one that is missing.
    let series = std::fs::read_to_string(bench.at(&state)).unwrap();
    let series: serde_json::Value = serde_json::from_str(&series).unwrap();
    let part = bench.at(&format!("run/{}", series["files"][1].as_str().unwrap()));
    std::fs::copy(bench.at("one.safetensors"), &part).unwrap();
    let texts = ["is of another save than its index", "named in `run/state.safetensors.index.json`"];
    run(&mut convert(&["-o", "none"])).with(2, &texts);
    std::fs::remove_file(part).unwrap();
    run(&mut convert(&["-o", "none"])).with(2, &["named in `run/state.safetensors.index.json`"]);
}

#[test]
fn processes_that_do_not_fit_are_told() {
    let bench = Bench::of(four());
    let alone = run(bench.train_on_nrt("run").args(["--steps", "2"]));
    let texts =
        ["error[E0408]: the bundle runs on 4 ranks (`data` = 2, `tensor` = 2), each a process", "`WORLD_SIZE` is not"];
    alone.with(2, &texts);
    let root = crate::nrt::bench::root();
    let mut first = bench.train_on_nrt("run");
    first.args(["--steps", "2", "--load-timeout", "1s"]).env("RANK", "0").env("WORLD_SIZE", "4");
    run(&mut first).with(2, &["error[E0408]: the variable `NEURON_RT_ROOT_COMM_ID` is not set"]);
    run(first.env("NEURON_RT_ROOT_COMM_ID", &root)).with(2, &["error[E0721]", "ranks 1, 2, 3 did not come"]);
    let by_pjrt = run(bench.train("run").args(["--steps", "2"]).env("RANK", "0").env("WORLD_SIZE", "4"));
    by_pjrt.with(
        2,
        &["error[E0408]: the variable `WORLD_SIZE` is 4, and `--executor pjrt` runs all ranks in one process"],
    );
    let program = r#"exec halite train bundle --executor nrt --seed "$RANK" "$@""#;
    let words = ["--", "bash", "-c", program, "of-many-seeds", "-o", "run"];
    let differ = run(&mut bench.launch(&[&words[..], &UPDATES].concat()));
    differ.with(
        2,
        &["error[E0719]: rank 1 runs something else than rank 0: its `made.made_by.data.order` is \"shuffled by "],
    );
    assert!(!bench.at("run").exists());
}
