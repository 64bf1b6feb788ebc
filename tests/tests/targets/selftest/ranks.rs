//! `halite neuron selftest --ranks`, started by the launch script as processes of four ranks.

use crate::nrt::bench::Bench;
use crate::nrt::ranks::four;
use crate::nrt::stages::two_stages;
use std::process::Output;

/// The test of all ranks, in which the stand-in of one rank has an order.
fn together(bench: &Bench, rank: &str, order: &str) -> Output {
    let program = r#"
        if [ "$RANK" = "$1" ]; then export "$2"; fi
        exec halite neuron selftest --ranks --work-dir burn-in --neuronx-cc "$3""#;
    let compiler = env!("CARGO_BIN_EXE_stand-in-neuronx-cc");
    let mut command = bench.launch(&["--", "bash", "-c", program, "of-one-rank", rank, order, compiler]);
    command.env("STAND_IN_PROGRAMS", "1").env("HALITE_STANDIN_NRT_TIMEOUT", "20").output().unwrap()
}

fn node() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Holds an end to an exit code, and what was said to texts.
#[track_caller]
fn ends(output: &Output, code: i32, texts: &[&str]) {
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    assert_eq!(output.status.code(), Some(code), "{said}");
    for text in texts {
        assert!(said.contains(text), "`{text}` is not in: {said}");
    }
}

#[test]
fn ranks_that_hear_one_another_are_right() {
    let bench = Bench::of(four());
    let right = "4 ranks on 1 node: a sum over all and a gathering of all are right\n";
    ends(&together(&bench, "none", "A=b"), 0, &[right]);
}

/// The ranks of a stage are among themselves: those of another one have a runtime of their own.
#[test]
fn the_ranks_of_each_stage_are_asked_together() {
    let bench = Bench::of(two_stages());
    let right =
        "4 ranks of 2 stages on 1 node: a sum over all of a stage and a gathering of all of a stage are right\n";
    ends(&together(&bench, "none", "A=b"), 0, &[right]);
    let failed = together(&bench, "2", "HALITE_STANDIN_NRT_FAIL=nrt_init:1202");
    ends(
        &failed,
        1,
        &["4 ranks of 2 stages on 1 node: ", &format!("  rank 2 on {}: the Neuron runtime does not start", node())],
    );
    let odd = together(&bench, "0", "HALITE_STAGES=3");
    ends(&odd, 2, &["the variable `HALITE_STAGES` is `3`, and 4 ranks cannot be those of so many stages"]);
}

/// The first rank of the stand-in computes for all.
#[test]
fn a_wrong_result_names_rank_and_node() {
    let bench = Bench::of(four());
    let wrong = together(&bench, "0", "HALITE_STANDIN_NRT_DEFECT=all-gather-order");
    let rank = |rank: u32| {
        format!(
            "  rank {rank} on {}: what was gathered of all ranks is wrong: element 0 is 12, and should be 0\n",
            node()
        )
    };
    ends(&wrong, 1, &["4 ranks on 1 node: 4 are wrong\n", &rank(0), &rank(3)]);
}

#[test]
fn a_rank_that_fails_or_dies_is_named() {
    let bench = Bench::of(four());
    let failed = together(&bench, "2", "HALITE_STANDIN_NRT_FAIL=nrt_init:1202");
    ends(
        &failed,
        1,
        &[&format!("  rank 2 on {}: the Neuron runtime does not start (NRT_EXEC_HW_ERR_NC_UE, 1202)", node())],
    );
    let died = together(&bench, "2", "HALITE_STANDIN_NRT_DIE=nrt_execute@1");
    assert!(!died.status.success());
    ends(&died, died.status.code().unwrap(), &["error[E0719]: rank 2 is gone"]);
}
