//! Tests that run in a process of their own.

use std::process::Command;

/// Names the test that a process was started for.
const TEST: &str = "HALITE_TEST_ALONE";

/// Runs a test of the running executable in a process of its own, which `change` may give other variables.
///
/// # Panics
/// When the test fails there, or the executable has no test of this name.
pub(crate) fn run_alone(test: &str, change: impl FnOnce(&mut Command) -> &mut Command) {
    let mut child = Command::new(std::env::current_exe().expect("a process knows its program"));
    child.args(["--exact", test, "--include-ignored", "--nocapture"]);
    let output = change(&mut child).output().expect("the test starts");
    let [said, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && said.contains("test result: ok. 1 passed"), "{said}\n{errors}");
}

/// Runs the body of a test in a process that runs this test and nothing else: for what counts the memory of a process, or needs
/// other variables of the environment, which `change` sets.
///
/// `test` is the name of the calling test in its executable, such as `train::tiny_learns_english`.
///
/// # Panics
/// When the test fails there, or the executable has no test of this name.
pub fn alone(test: &str, change: impl FnOnce(&mut Command) -> &mut Command, body: impl FnOnce()) {
    if std::env::var_os(TEST).is_some_and(|own| own == test) {
        return body();
    }
    run_alone(test, |child| change(child.env(TEST, test)));
}

/// Runs the body of a test on the code that XLA makes by itself, whichever `XLA_FLAGS` asks for: what runs for long is quicker on
/// it, and tolerances of single operations are those of it.
///
/// # Panics
/// As [`alone`].
pub fn on_own_code(test: &str, body: impl FnOnce()) {
    const FLAGS: &str = "XLA_FLAGS";
    if std::env::var_os(FLAGS).is_none() {
        return body();
    }
    alone(test, |child| child.env_remove(FLAGS), body);
}
