//! What a plugin writes to the standard error of its host: lines of its own, unless the host asked for silence while it
//! could. The usual harness starts threads, so this test is a program, which runs itself as each kind of host.

mod common;

use common::{add, client, compile};
use halite_runtime::silence_xla_log;
use halite_tensor::DType;
use std::process::Command;

const LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("plain") => {}
        Some("silent") => assert!(silence_xla_log()),
        Some("late") => std::thread::scope(|scope| {
            let (end, ended) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || ended.recv());
            assert!(!silence_xla_log() && std::env::var_os(LEVEL).is_none());
            drop(end);
        }),
        Some("told") => assert!(silence_xla_log() && std::env::var_os(LEVEL).is_some_and(|level| level == "2")),
        _ => return hosts(),
    }
    compile(&client(2), &add(DType::F32));
}

/// Each kind of host, and whether there are lines on its standard error.
fn hosts() {
    for (host, level, is_quiet) in
        [("plain", None, false), ("silent", None, true), ("late", None, false), ("told", Some("2"), true)]
    {
        let mut command = Command::new(std::env::current_exe().expect("a process knows its program"));
        command.arg(host).env_remove(LEVEL).envs(level.map(|level| (LEVEL, level)));
        let output = command.output().expect("the test runs");
        let lines = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{host}: {lines}");
        assert_eq!(lines.is_empty(), is_quiet, "{host}: {lines}");
    }
}
