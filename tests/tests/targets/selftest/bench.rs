//! The self-test on the stand-ins, with programs that are made once.

use halite_neuron::Generation;
use halite_neuron::neuronx::Compiler;
use halite_selftest::{CHECKS, Launcher, Limits, Observer, Place, Prepared, Report, Runtime, Verdict, prepare};
use halite_tests::ports::own_port;
use halite_tests::{command_line, standin_nrt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

struct Unwatched;

impl Observer for Unwatched {}

/// Becomes true never.
static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// A folder for one test, with a compiler and a library.
pub(crate) struct Bench {
    folder: TempDir,
    port: u16,
}

/// All checks with their programs.
pub(crate) fn prepared() -> &'static Prepared {
    static PREPARED: OnceLock<Prepared> = OnceLock::new();
    PREPARED.get_or_init(|| {
        let made = prepare(CHECKS, Generation::Trn1, Some("2.27.5334.0+standin"));
        made.unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
    })
}

/// The folder in which the stand-in for the library keeps results of other runs: most programs are the same with most defects.
fn memory() -> &'static TempDir {
    static MEMORY: OnceLock<TempDir> = OnceLock::new();
    MEMORY.get_or_init(|| tempfile::tempdir().unwrap())
}

impl Bench {
    pub(crate) fn new() -> Self {
        // Ranks of tests that run side by side find each other at different ports.
        Self { folder: tempfile::tempdir().unwrap(), port: own_port() }
    }

    /// The compiler, started through a script that sets these variables.
    fn compiler(&self, variables: &[(&str, &str)]) -> Compiler {
        let path = self.folder.path().join("neuronx-cc");
        let set: String = variables.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
        let program = env!("CARGO_BIN_EXE_stand-in-neuronx-cc");
        let script = format!("#!/bin/sh\nSTAND_IN_PROGRAMS=1 {set}exec '{program}' \"$@\"\n");
        // By another process: what this one has open for writing its children hold too until they run, and such a file cannot be run.
        let write = "printf %s \"$2\" > \"$1\" && chmod +x \"$1\"";
        let status = Command::new("sh").args(["-c", write, "sh", path.to_str().unwrap(), &script]).status();
        assert!(status.unwrap().success());
        Compiler::ask(path, &INTERRUPT).unwrap()
    }

    /// The report of a run whose compiler and library are told this.
    pub(crate) fn run(&self, of_compiler: &[(&str, &str)], of_library: &[(&str, &str)]) -> Report {
        let own = of_library.iter().map(|(name, value)| (format!("HALITE_STANDIN_NRT_{name}"), (*value).to_owned()));
        let flags = std::env::var("XLA_FLAGS").unwrap_or_default();
        let kept = text(memory().path().to_path_buf());
        let loaded = text(self.folder.path().join("loaded"));
        let shared = [("CORES", "2".to_owned()), ("XLA_FLAGS", flags), ("MEMORY", kept), ("LOADED", loaded)];
        let shared = shared.map(|(name, value)| (format!("HALITE_STANDIN_NRT_{name}"), value));
        let place = Place {
            compiler: Ok(self.compiler(of_compiler)),
            runtime: Ok(Runtime::Nrt(standin_nrt::library())),
            launcher: Launcher {
                program: command_line::halite().to_path_buf(),
                arguments: ["neuron", "selftest", "--worker"].map(Into::into).to_vec(),
                environment: shared.into_iter().chain(own).collect(),
            },
            work: self.folder.path().join("work"),
        };
        prepared().run(&place, &self.limits(), &Unwatched)
    }

    fn limits(&self) -> Limits<'static> {
        let minute = Duration::from_secs(60);
        let (compile, load, call, process) = (minute, minute, minute, minute * 5);
        Limits { compile, load, call, process, jobs: 1, port: self.port, interrupt: &INTERRUPT }
    }
}

fn text(path: PathBuf) -> String {
    path.to_str().expect("the folder for temporary files has a plain name").to_owned()
}

/// The checks that failed.
pub(crate) fn failed(report: &Report) -> Vec<&'static str> {
    report.checks.iter().filter(|check| check.verdict == Verdict::Failed).map(|check| check.name).collect()
}
