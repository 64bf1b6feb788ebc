//! The calls across the boundary to C, under valgrind's memcheck.

use std::process::Command;

/// The tests of the executor that run in one process.
const OF_ONE_PROCESS: &[&str] = &[
    "nrt::executor::",
    "--skip",
    "nrt::executor::two_processes",
    "--skip",
    "nrt::executor::ranks_that",
    "--skip",
    "nrt::executor::one_of_two",
];

/// No byte is read or written that is not there, or was freed. Whether bytes were written before is not asked: XLA, which the stand-in
/// calls, reads some that were not.
#[test]
fn only_memory_that_is_there_is_read_and_written() {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--undef-value-errors=no", "--num-callers=20"]);
    command.arg(std::env::current_exe().unwrap()).args(OF_ONE_PROCESS).arg("--test-threads=1");
    let output = command.output().expect("the program starts; checking memory takes valgrind (`apt install valgrind`)");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("ok. 5 passed"), "{text}");
}
