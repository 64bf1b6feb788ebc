//! A bundle with NEFFs for the stand-in, and `halite train` on it, in a folder of their own.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::{Bundle, ModuleRole};
use halite_tests::compiled::expect;
use halite_tests::ports::own_port;
use halite_tests::{command_line, standin_nrt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The set-up of every test: a folder.
pub(crate) struct Bench {
    folder: TempDir,
}

/// The exit code and standard error of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) errors: String,
}

impl Ended {
    /// Holds it to an exit code and to texts that standard error has, line breaks aside.
    #[track_caller]
    pub(crate) fn with(&self, code: i32, texts: &[&str]) {
        let said = self.errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(self.code, code, "{}", self.errors);
        for text in texts {
            assert!(said.contains(text), "`{text}` is not in: {}", self.errors);
        }
    }
}

/// A bundle of the smallest preset with these settings, and the modules that training calls.
pub(crate) fn compiled(settings: &[&str]) -> Bundle {
    let stated = ["target=trn1", "layers=1", "seq=16", "batch=2", "vocab=256"];
    let settings: Vec<String> = stated.iter().chain(settings).map(|setting| (*setting).to_owned()).collect();
    let mut session = Session::new();
    let source = expect(session.load("tiny", &settings));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP, ModuleRole::EVAL], ..CompileOptions::default() };
    expect(session.compile(&source, &options)).bundle
}

/// The bundle that most tests take.
pub(crate) fn usual() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| compiled(&[]))
}

impl Bench {
    /// With the usual bundle and its NEFFs.
    pub(crate) fn new() -> Self {
        Self::of(usual())
    }

    /// With a bundle and its NEFFs.
    pub(crate) fn of(bundle: &Bundle) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bundle.write(&bench.bundle()).unwrap();
        standin_nrt::compile(bundle, &bench.bundle());
        let text: String =
            (0..400).map(|line| format!("line {line} of {} is {}\n", line * 7 % 13, line * line)).collect();
        std::fs::write(bench.at("text.txt"), text).unwrap();
        bench
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn bundle(&self) -> PathBuf {
        self.at("bundle")
    }

    /// The NEFF of the training step.
    pub(crate) fn neff(&self) -> PathBuf {
        self.bundle().join("neff/train_step.neff")
    }

    /// The launch script of the bundle on its stand-in, which is given these arguments, with a root address of its own.
    pub(crate) fn launch(&self, arguments: &[&str]) -> Command {
        let script = self.halite(&["env", "bundle", "--script"]).output().unwrap();
        assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
        std::fs::write(self.at("launch.sh"), script.stdout).unwrap();
        let mut command = Command::new("bash");
        command.current_dir(self.folder.path()).args(["launch.sh", "--grace", "5", "--root", &root()]).args(arguments);
        let program = command_line::halite();
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", Path::new(&program).parent().unwrap().display()));
        command.env("HALITE_NRT", standin_nrt::library());
        self.with_stand_in(&mut command);
        command
    }

    /// The line that the stand-in left when it was closed.
    pub(crate) fn journal(&self) -> String {
        std::fs::read_to_string(self.at("journal")).unwrap_or_default()
    }

    /// `halite train` into the folder `run`, by PJRT.
    pub(crate) fn train(&self, run: &str) -> Command {
        self.halite(&["train", "bundle", "--text", "text.txt", "--quiet", "-o", run])
    }

    /// The command line in the folder.
    pub(crate) fn halite(&self, words: &[&str]) -> Command {
        let mut command = Command::new(command_line::halite());
        command.current_dir(self.folder.path()).args(words);
        command
    }

    /// The same on the stand-in, in the environment that the bundle asks for.
    pub(crate) fn train_on_nrt(&self, run: &str) -> Command {
        self.on_library(run, &standin_nrt::library())
    }

    /// The same on this library.
    pub(crate) fn on_library(&self, run: &str, library: &Path) -> Command {
        let mut command = self.train(run);
        command.args(["--executor", "nrt", "--nrt"]).arg(library);
        command.envs(environment(&self.bundle()));
        self.with_stand_in(&mut command);
        command
    }

    /// The same command on the stand-in.
    pub(crate) fn on_nrt<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(["--executor", "nrt", "--nrt"]).arg(standin_nrt::library());
        command.envs(environment(&self.bundle()));
        self.with_stand_in(command);
        command
    }

    /// Sets the variables of the stand-in, without any that is forbidden around it.
    fn with_stand_in(&self, command: &mut Command) {
        command.env_remove("XLA_FLAGS").env("HALITE_STANDIN_NRT_JOURNAL", self.at("journal"));
        if let Some(flags) = std::env::var_os("XLA_FLAGS") {
            command.env("HALITE_STANDIN_NRT_XLA_FLAGS", flags);
        }
    }
}

/// A root address of this machine that no other test has.
pub(crate) fn root() -> String {
    format!("127.0.0.1:{}", own_port())
}

/// The variables that a bundle asks for, as its manifest has them.
fn environment(bundle: &Path) -> Vec<(String, String)> {
    let manifest = std::fs::read_to_string(bundle.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let variables = manifest["environment"].as_object().unwrap().iter();
    variables.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code().unwrap_or(-1), errors }
}

/// The bytes of a file of a run.
pub(crate) fn bytes(bench: &Bench, run: &str, file: &str) -> Vec<u8> {
    let path: &Path = &bench.at(run).join(file);
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
