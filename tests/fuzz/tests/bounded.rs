//! A fixed number of inputs for all targets, always the same ones. `HALITE_FUZZ_EXECUTIONS` says how many.

use std::process::Command;

#[test]
fn nothing_is_wrong_in_a_few_inputs() {
    let executions = std::env::var("HALITE_FUZZ_EXECUTIONS").unwrap_or_else(|_| "3000".to_owned());
    let mut fuzz = Command::new(env!("CARGO_BIN_EXE_halite-fuzz"));
    // Without optimization everything takes longer.
    fuzz.args(["all", "--executions", &executions, "--seconds", "60"]);
    fuzz.args(["--save", concat!(env!("CARGO_TARGET_TMPDIR"), "/findings")]);
    let output = fuzz.output().expect("the program runs");
    let said = [output.stderr, output.stdout].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{said}");
}
