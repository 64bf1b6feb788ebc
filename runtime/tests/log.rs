//! The lines that a plugin writes to the standard error of its host: lines of its own, unless the host asked for silence while it
//! could.

use crate::LEVEL;
use crate::common::{add, client, compile};
use halite_runtime::silence_xla_log;
use halite_tensor::DType;

/// Each kind of host, the level that it is started with, and whether nothing is on its standard error.
pub(crate) const HOSTS: [(&str, Option<&str>, bool); 4] =
    [("plain", None, false), ("silent", None, true), ("late", None, false), ("told", Some("2"), true)];

/// Runs each kind.
pub(crate) fn check() {
    for (kind, level, is_quiet) in HOSTS {
        let output = crate::host(kind).envs(level.map(|level| (LEVEL, level))).output().expect("the test runs");
        let lines = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{kind}: {lines}");
        assert_eq!(lines.is_empty(), is_quiet, "{kind}: {lines}");
    }
}

/// Compiles a program as a host of this kind.
pub(crate) fn write_as(kind: &str) {
    match kind {
        "silent" => assert!(silence_xla_log()),
        "late" => std::thread::scope(|scope| {
            let (end, ended) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || ended.recv());
            assert!(!silence_xla_log() && std::env::var_os(LEVEL).is_none());
            drop(end);
        }),
        "told" => assert!(silence_xla_log() && std::env::var_os(LEVEL).is_some_and(|level| level == "2")),
        _ => {}
    }
    compile(&client(2), &add(DType::F32));
}
