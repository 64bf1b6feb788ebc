//! `halite neuron selftest`.

mod progress;
mod ranks;
mod show;

use super::compile::interrupt;
use super::units;
use crate::context::{Context, Output, Result};
use clap::{Args, ValueEnum};
use halite_neuron::Generation;
use halite_neuron::neuronx::{self, Compiler, MEMORY_PER_JOB, check_environment, default_jobs, host_memory};
use halite_runtime::{find_nrt, find_plugin};
use halite_selftest::{CHECKS, Check, Launcher, Limits, Place, Report, Runtime, explain, named, prepare, work};
use halite_support::{Diagnostic, Diagnostics, codes};
use progress::Progress;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

/// The time that starting the runtime and loading a program may take: microcode and programs are read from disk.
const LOAD: Duration = Duration::from_secs(600);

/// Check Halite's assumptions about Neuron on a compiler and a device.
///
/// Compiles small programs with `neuronx-cc`, runs them on a core, and compares with the interpreter. What is not there is not asked,
/// and the report says so. The report names no machine, no user and no file. Of each fact that rests on a conclusion of ours or a single
/// source it says whether it is confirmed, refuted or open.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite neuron selftest
  halite neuron selftest --target trn2 --output report.json
  halite neuron selftest --only call --only integers
  halite neuron selftest --explain
  bash launch.sh -- halite neuron selftest --ranks --work-dir shared

Exit codes: 0 all that was asked was answered as expected, 1 something was not or nothing could be asked, 2 the input is wrong")]
pub(crate) struct Selftest {
    /// The hardware.
    #[arg(short, long, value_name = "TARGET", default_value = "trn1")]
    target: String,
    /// Make this check alone; may be given several times.
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// List the checks, and make none.
    #[arg(long, conflicts_with_all = ["explain", "only"])]
    list: bool,
    /// Say of each fact what it rests on, which check tells, and what would change in Halite; make no check.
    #[arg(long, conflicts_with = "only")]
    explain: bool,
    /// Write the report as JSON to a file, too.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Ask the ranks of a launch together, on all its nodes, and no check: each process is one, started by the launch script of a bundle.
    /// Rank 0 compiles, into `--work-dir`, which all nodes have to see.
    #[arg(long, conflicts_with_all = ["list", "explain", "only", "output", "executor"])]
    ranks: bool,
    /// Executor of the programs: libnrt with NEFFs, or the PJRT plugin of `--plugin`.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Kind::Nrt)]
    executor: Kind,
    /// The compiler [default: $HALITE_NEURONX_CC, else `neuronx-cc` on the PATH].
    #[arg(long, value_name = "PATH")]
    neuronx_cc: Option<PathBuf>,
    /// libnrt or its folder [default: $HALITE_NRT, else /opt/aws/neuron/lib].
    #[arg(long, value_name = "PATH")]
    nrt: Option<PathBuf>,
    /// Keep programs, NEFFs and results in this folder; what was compiled there is not compiled again [default: none is kept].
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    /// Number of compilers that may run at once [default: by the memory of this machine].
    #[arg(short, long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
    /// End a compiler that takes longer.
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "30m")]
    compile_timeout: Duration,
    /// Give up a run of a program that takes longer.
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "2m")]
    run_timeout: Duration,
    /// End a process with all its programs that takes longer.
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "30m")]
    process_timeout: Duration,
    /// The port of this machine where the ranks of collectives find each other.
    #[arg(long, value_name = "PORT", default_value_t = 46820)]
    port: u16,
    /// Run the programs in a folder.
    #[arg(long, value_name = "DIR", hide = true)]
    worker: Option<PathBuf>,
}

/// An executor of programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// libnrt of AWS Neuron, which runs what `neuronx-cc` compiled.
    Nrt,
    /// A PJRT plugin, which compiles by itself.
    Pjrt,
}

impl Selftest {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        if let Some(folder) = &self.worker {
            work(folder)?;
            return Ok(Output::default());
        }
        if self.list {
            return Ok(show::list(CHECKS));
        }
        if self.explain {
            let target = self.target()?;
            return Ok(show::explained(&explain(target), target));
        }
        let checks = self.checks()?;
        self.target()?;
        let refused = check_environment();
        if !refused.is_empty() {
            return Err(refused);
        }
        let interrupt = interrupt()?;
        let (work, _kept) = self.work_folder()?;
        let place = self.place(context, &interrupt, work)?;
        if self.ranks {
            return self.ask_ranks(context, &place, &self.limits(&interrupt));
        }
        let report = self.ask(&checks, &place, &interrupt, context)?;
        let json = serde_json::to_value(&report).unwrap_or_default();
        if let Some(path) = &self.output {
            let text = serde_json::to_string_pretty(&json).unwrap_or_default() + "\n";
            halite_disk::write(path, text.as_bytes())?;
        }
        Ok(Output { failed: report.has_failed(), ..Output::new(show::report(&report), json) })
    }

    fn target(&self) -> Result<Generation> {
        let found = Generation::ALL.into_iter().find(|generation| generation.name() == self.target);
        let names = Generation::ALL.map(Generation::name).join(", ");
        let message = || format!("`{}` is no hardware of Neuron", self.target);
        Ok(found.ok_or_else(|| Diagnostic::error(codes::USAGE, message()).help(format!("choose from {names}")))?)
    }

    fn ask(
        &self,
        checks: &[&'static dyn Check],
        place: &Place,
        interrupt: &AtomicBool,
        context: &Context,
    ) -> Result<Report> {
        context.aside("making programs\n");
        let compiler = place.compiler.as_ref().ok().map(Compiler::version);
        let prepared = prepare(checks, self.target()?, compiler)?;
        Ok(prepared.run(place, &self.limits(interrupt), &Progress::new(context)))
    }

    fn limits<'a>(&self, interrupt: &'a AtomicBool) -> Limits<'a> {
        let jobs = || default_jobs(host_memory(), MEMORY_PER_JOB);
        Limits {
            compile: self.compile_timeout,
            load: LOAD,
            call: self.run_timeout,
            process: self.process_timeout,
            jobs: self.jobs.map_or_else(jobs, NonZeroUsize::get),
            port: self.port,
            interrupt,
        }
    }

    /// The checks that are asked for, in the order in which they are made.
    fn checks(&self) -> Result<Vec<&'static dyn Check>> {
        let unknown = |name: &&String| named(name).is_none();
        if let Some(name) = self.only.iter().find(unknown) {
            let names: Vec<&str> = CHECKS.iter().map(|check| check.name()).collect();
            let error = Diagnostic::error(codes::USAGE, format!("there is no check `{name}`"));
            return Err(error.help(format!("choose from {}", names.join(", "))).into());
        }
        let is_wanted =
            |check: &&&'static dyn Check| self.only.is_empty() || self.only.iter().any(|name| name == check.name());
        Ok(CHECKS.iter().filter(is_wanted).copied().collect())
    }

    /// The folder for programs and results, which goes away with the second value where nobody named one.
    fn work_folder(&self) -> Result<(PathBuf, Option<TempDir>)> {
        if let Some(folder) = &self.work_dir {
            let folder = std::path::absolute(folder).map_err(|error| unusable(folder, &error))?;
            return Ok((folder, None));
        }
        let folder = tempfile::tempdir().map_err(|error| unusable(&std::env::temp_dir(), &error))?;
        Ok((folder.path().to_path_buf(), Some(folder)))
    }

    /// The compiler, the runtime and the launcher that this machine has; an error where one that is named is not found.
    fn place(&self, context: &Context, interrupt: &AtomicBool, work: PathBuf) -> Result<Place> {
        let compiler = neuronx::find(self.neuronx_cc.as_deref()).and_then(|path| Compiler::ask(path, interrupt));
        let compiler = found(compiler, self.neuronx_cc.is_some(), "no `neuronx-cc` was found")?;
        let runtime = match self.executor {
            Kind::Nrt => {
                found(find_nrt(self.nrt.as_deref()).map(Runtime::Nrt), self.nrt.is_some(), "no libnrt was found")?
            }
            Kind::Pjrt => {
                let plugin = find_plugin(context.plugin.as_deref()).map(Runtime::Pjrt);
                found(plugin, context.plugin.is_some(), "no PJRT plugin was found")?
            }
        };
        let program = std::env::current_exe().map_err(|error| unusable(Path::new("halite"), &error))?;
        let arguments = ["neuron", "selftest", "--worker"].map(OsString::from).to_vec();
        Ok(Place { compiler, runtime, launcher: Launcher { program, arguments, environment: Vec::new() }, work })
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Diagnostics {
    halite_support::files::cannot("use", path, error).into()
}

/// The result of a search, or the reason that nothing was found. An error where it was named.
fn found<T, E: Into<Diagnostic>>(
    looked: std::result::Result<T, E>,
    is_named: bool,
    missing: &str,
) -> Result<std::result::Result<T, String>> {
    match looked.map_err(Into::into) {
        Ok(found) => Ok(Ok(found)),
        Err(error) if is_named => Err(error.into()),
        Err(_) => Ok(Err(missing.to_owned())),
    }
}
