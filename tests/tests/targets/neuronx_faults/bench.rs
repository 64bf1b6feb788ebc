//! A bundle, a store and the stand-in in a folder of their own.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::{Bundle, sha256};
use halite_neuron::settings::forbidden;
use halite_tests::command_line;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The modules of the bundle.
pub(crate) const MODULES: [&str; 3] = ["train_step", "forward", "eval"];

const STAND_IN: &str = env!("CARGO_BIN_EXE_stand-in-neuronx-cc");

/// The set-up of every test: a folder with a bundle.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
}

/// The NEFF of each module, as the stand-in makes it when nothing goes wrong.
fn expected() -> &'static BTreeMap<&'static str, Vec<u8>> {
    static EXPECTED: OnceLock<BTreeMap<&'static str, Vec<u8>>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let bench = Bench::new();
        run(&mut bench.compile(&[]), 0);
        MODULES.into_iter().map(|module| (module, std::fs::read(bench.neff(module)).unwrap())).collect()
    })
}

fn bundle() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let mut session = Session::new();
        let mut source = session.load("tiny", &["layers=1".to_owned()]).unwrap();
        source.recipe.target = "trn1".into();
        session.compile(&source, &CompileOptions::default()).unwrap().bundle
    })
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bundle().write(&bench.folder().join("bundle")).unwrap();
        bench
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder().join("cache/halite/neff")
    }

    /// The output folder of NEFFs.
    pub(crate) fn output(&self) -> PathBuf {
        self.folder().join("bundle/neff")
    }

    pub(crate) fn neff(&self, module: &str) -> PathBuf {
        self.output().join(format!("{module}.neff"))
    }

    /// A command with the store and the notes of this bench, and nothing else of Halite's or Neuron's in its environment.
    pub(crate) fn halite(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(command_line::halite());
        command.args(arguments).current_dir(self.folder()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in forbidden() {
            command.env_remove(&variable.name);
        }
        command.env_remove("HALITE_NEURONX_CC").env("XDG_CACHE_HOME", self.folder().join("cache"));
        command.env("STAND_IN_STARTED", self.notes());
        command
    }

    /// `halite neuron compile` with the stand-in.
    pub(crate) fn compile(&self, arguments: &[&str]) -> Command {
        let mut command = self.halite(&["neuron", "compile", "bundle", "--neuronx-cc", STAND_IN]);
        command.args(arguments);
        command
    }

    fn notes(&self) -> PathBuf {
        self.folder().join("started")
    }

    /// Process and work folder of each compile that was started.
    pub(crate) fn starts(&self) -> Vec<(u32, PathBuf)> {
        let text = std::fs::read_to_string(self.notes()).unwrap_or_default();
        let parse = |line: &str| line.split_once(' ').map(|(id, folder)| (id.parse().unwrap(), PathBuf::from(folder)));
        text.lines().filter_map(parse).collect()
    }

    /// The number of compiles that were started.
    pub(crate) fn started(&self) -> usize {
        self.starts().len()
    }

    /// A run that must succeed with the right bytes; returns what was said.
    pub(crate) fn succeeds(&self) -> String {
        let said = run(&mut self.compile(&[]), 0);
        self.check_output();
        self.check_store();
        said
    }

    pub(crate) fn check_output(&self) {
        self.check_neffs(&self.output());
    }

    /// Whether a folder has the right NEFF of each module.
    pub(crate) fn check_neffs(&self, folder: &Path) {
        for (module, bytes) in expected() {
            let found = std::fs::read(folder.join(format!("{module}.neff"))).unwrap();
            assert!(found == *bytes, "{module} in {}", folder.display());
        }
    }

    /// Whether every entry of the store is whole and right.
    pub(crate) fn check_store(&self) {
        for entry in std::fs::read_dir(self.store().join("entries")).into_iter().flatten() {
            let folder = entry.unwrap().path();
            let read =
                |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
            let entry: serde_json::Value = serde_json::from_slice(&read("entry.json")).unwrap();
            let neff = read("model.neff");
            assert_eq!(entry["sha256"], sha256(&neff), "{folder:?}");
            assert_eq!(entry["bytes"], neff.len(), "{folder:?}");
            assert_eq!(entry["key"].as_str(), folder.file_name().and_then(|name| name.to_str()));
            assert!(expected()[entry["module"].as_str().unwrap()] == neff, "{folder:?}");
            assert!(!read("log").is_empty(), "{folder:?}");
        }
    }
}

/// Runs a command that must end with `code`, and returns everything that it said.
pub(crate) fn run(command: &mut Command, code: i32) -> String {
    finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(), code)
}

/// The same of one that runs already.
pub(crate) fn finish(process: Child, code: i32) -> String {
    let output = process.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    said.into_owned()
}
