//! Stages of a pipeline whose ranks are processes, started by the launch script.
//!
//! `HALITE_KILLS` is how often a rank of a run is killed, once by default.

use crate::nrt::bench::{Bench, Ended, bytes, compiled, run};
use crate::nrt::ranks::{INDEX, UPDATES};
use halite_bundle::{Bundle, tensors};
use std::process::Command;
use std::sync::OnceLock;

/// Data 2, four micro-batches in an update, and the state of the optimizer along data.
const LAYOUT: [&str; 4] = ["layers=2", "parallel.data=2", "parallel.zero=1", "accumulate=4"];

/// The ranks of both stages.
const RANKS: u64 = 4;

/// On two stages of two ranks.
pub(crate) fn two_stages() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| compiled(&[&LAYOUT[..], &["parallel.pipeline=2"]].concat()))
}

/// The state of a run, whether it is in one file or in parts.
fn state(bench: &Bench, run: &str) -> tensors::Tensors {
    let (parts, whole) = (bench.at(&format!("{run}/state.{INDEX}")), bench.at(&format!("{run}/state.safetensors")));
    tensors::read(if parts.is_file() { &parts } else { &whole }).unwrap()
}

#[test]
fn updates_of_stages_in_processes_are_those_of_one_process() {
    let bench = Bench::of(two_stages());
    let alone = run(bench.train_on_nrt("alone").args(["--steps", "2"]));
    alone.with(2, &["error[E0408]: the bundle runs on 4 ranks (2 stages, `data` = 2), each a process"]);
    let options =
        ["--steps", "3", "--eval-every", "2", "--eval-batches", "2", "--checkpoint-every", "2", "--seed", "7"];
    run(bench.train("pjrt").args(options)).with(0, &[]);
    let words = ["--", "--text", "text.txt", "--quiet", "-o", "nrt"];
    run(&mut bench.launch(&[&words[..], &options].concat())).with(0, &[]);
    for file in ["metrics.jsonl", "recipe.toml"] {
        assert!(bytes(&bench, "pjrt", file) == bytes(&bench, "nrt", file), "{file}");
    }
    assert!(!bench.at("nrt/state.safetensors").exists());
    let (expected, found) = (state(&bench, "pjrt"), state(&bench, "nrt"));
    assert!(expected == found);
    // Each tensor is written once, and each rank writes some.
    let index = std::fs::read_to_string(bench.at(&format!("nrt/state.{INDEX}"))).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let files: Vec<_> = index["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    let parts: Vec<_> = files.iter().map(|file| tensors::read(&bench.at(&format!("nrt/{file}"))).unwrap()).collect();
    assert!(parts.len() as u64 == RANKS && parts.iter().all(|part| !part.is_empty()), "{files:?}");
    let size = |tensors: &tensors::Tensors| tensors.values().map(|tensor| tensor.bytes().len()).sum::<usize>();
    assert_eq!(parts.iter().map(size).sum::<usize>(), size(&found));
    // Nothing is left on any device, and nothing was done wrong.
    let journal = bench.journal();
    assert_eq!(journal.lines().count() as u64, RANKS, "{journal}");
    assert!(journal.lines().all(|line| line.ends_with("alive [0, 0, 0, 0] wrong []")), "{journal}");
}

/// A run by the script in which the stand-in of one rank dies at a call of a function.
fn with_death(bench: &Bench, rank: u64, at: &str) -> Command {
    let program = r#"
        if [ "$RANK" = "$1" ]; then export HALITE_STANDIN_NRT_DIE="$2"; fi
        shift 2
        exec halite train bundle --executor nrt "$@""#;
    let rank = rank.to_string();
    let words = ["--", "bash", "-c", program, "of-one-rank", &rank, at, "-o", "run"];
    bench.launch(&[&words[..], &UPDATES].concat())
}

/// The first rank of all, which the others hear of by themselves, and the last, which they are told of.
#[test]
fn a_rank_that_is_killed_ends_all_stages_and_is_named_with_its_own() {
    for (rank, named) in [(0, "rank 0, of stage 0, is gone"), (3, "rank 3, of stage 1, is gone")] {
        let bench = Bench::of(two_stages());
        let Ended { code, errors } = run(&mut with_death(&bench, rank, "nrt_execute@60"));
        // That of the rank that was killed, or of one that ended since it is gone.
        assert!([128 + 9, 75].contains(&code), "{code}: {errors}");
        for text in ["launch: rank ", "the others are ended", "error[E0719]: ", named] {
            assert!(errors.contains(text), "`{text}` is not in: {errors}");
        }
    }
}

/// On in one process with both stages, and in one with a pipeline of one stage, whose sums are made in another order.
#[test]
fn what_stages_in_processes_left_goes_on_in_one_process() {
    let bench = Bench::of(two_stages());
    run(bench.halite(&["train", "bundle", "-o", "whole"]).args(UPDATES)).with(0, &[]);
    let Ended { code, errors } = run(&mut with_death(&bench, 2, "nrt_execute@60"));
    assert!([128 + 9, 75].contains(&code), "{code}: {errors}");
    let left = format!("run/state.{INDEX}");
    compiled(&LAYOUT).write(&bench.at("one-stage")).unwrap();
    for (bundle, folder) in [("one-stage", "other"), ("bundle", "run")] {
        run(bench.halite(&["train", bundle, "-o", folder, "--resume", &left]).args(UPDATES)).with(0, &[]);
    }
    for file in ["metrics.jsonl", "state.safetensors"] {
        assert!(bytes(&bench, "run", file) == bytes(&bench, "whole", file), "{file}");
    }
    let (expected, found) = (state(&bench, "whole"), state(&bench, "other"));
    assert!(expected.keys().eq(found.keys()));
    for (name, expected) in &expected {
        let (expected, found) = (expected.f64s(), found[name].f64s());
        let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let off = expected.iter().zip(&found).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(off <= 1e-2 * largest, "{name}: {off} of {largest}");
    }
}

/// A splitmix64 generator, so that all runs of the test are alike.
fn below(seed: &mut u64, limit: u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % limit
}

#[test]
fn a_pipeline_whose_ranks_are_killed_again_and_again_ends_like_one_that_is_not() {
    let kills: u64 = std::env::var("HALITE_KILLS").map_or(1, |kills| kills.parse().unwrap());
    let bench = Bench::of(two_stages());
    run(bench.halite(&["train", "bundle", "-o", "whole"]).args(UPDATES)).with(0, &[]);
    let mut seed = 7;
    let mut killed = 0;
    for _ in 0..kills {
        // While programs run, and while values are copied from the device: to be sent, measured or saved.
        let (function, most) = [("nrt_execute", 60), ("nrt_tensor_read", 90)][below(&mut seed, 2) as usize];
        let at = format!("{function}@{}", 1 + below(&mut seed, most));
        let Ended { code, errors } = run(&mut with_death(&bench, below(&mut seed, RANKS), &at));
        // Before the first checkpoint there is nothing to go on from.
        let is_early = code == 2 && errors.contains("no state was saved before");
        assert!(is_early || [0, 128 + 9, 75].contains(&code), "{at}: {code}: {errors}");
        killed += u64::from(code != 0);
        if code == 0 {
            std::fs::remove_dir_all(bench.at("run")).unwrap();
        }
    }
    assert!(killed >= kills.div_ceil(2), "only {killed} of {kills} runs were killed before their end");
    let words = ["--", "-o", "run"];
    run(&mut bench.launch(&[&words[..], &UPDATES].concat())).with(0, &[]);
    assert!(bytes(&bench, "run", "metrics.jsonl") == bytes(&bench, "whole", "metrics.jsonl"));
    assert!(state(&bench, "run") == state(&bench, "whole"));
}
