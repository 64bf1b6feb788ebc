//! Runs the golden files below `golden/`.
//!
//! Their tolerances are those of the code that XLA makes by itself: where `XLA_FLAGS` asks for other code, they run in a
//! process without it.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::process::{Command, ExitCode};

const FLAGS: &str = "XLA_FLAGS";

fn main() -> ExitCode {
    if std::env::var_os(FLAGS).is_some() {
        let mut own = Command::new(std::env::current_exe().unwrap());
        let status = own.args(std::env::args_os().skip(1)).env_remove(FLAGS).status().unwrap();
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    halite_tests::kit().run()
}
