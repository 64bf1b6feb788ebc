//! Effects of the runtime on its host: on the environment and on standard error. They depend on whether the host has other threads, of
//! which the usual harness starts some, so this test is a program, which runs itself as each kind of host.

mod common;
mod environment;
mod log;

use std::process::Command;

/// The environment variable that sets XLA's log level.
const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some(environment::HOST) => environment::stays(),
        Some(host) if log::HOSTS.iter().any(|(own, ..)| *own == host) => log::write_as(host),
        _ => {
            environment::check();
            log::check();
        }
    }
}

/// This program as a host of a kind, with no level of the log in its environment.
fn host(kind: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a process knows its program"));
    command.arg(kind).env_remove(LEVEL);
    command
}
