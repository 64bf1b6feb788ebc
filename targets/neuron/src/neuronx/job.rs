//! One task from its HLO to its NEFF.

use super::command::{self, COMPILER_LOG};
use super::flags::{flag_hash, normalized_flags};
use super::key::key;
use super::process::{self, Exit, Limits};
use super::store::{Entry, Finished, KeyLock};
use super::task::Task;
use super::work::{self, Work};
use super::{Observer, Options, log, neff};
use halite_bundle::{NeffRecord, sha256};
use halite_disk::Disk;
use halite_support::files::cannot;
use halite_support::units::bytes;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The file with what the compiler prints, in its work folder.
const PRINTED: &str = "output.txt";

/// The outcome of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The names of the modules that are this program, as in [`Task::modules`].
    pub modules: Vec<String>,
    /// The key in the store, a SHA-256 in hex.
    pub key: String,
    /// How it ended.
    pub end: End,
    /// How long it took on the clock, waiting for other processes included.
    pub elapsed: Duration,
    /// The file with everything that the compiler wrote about it; the module has none when no compiler was started.
    pub log: Option<PathBuf>,
    /// Warnings about the compile.
    pub warnings: Diagnostics,
}

/// How a task ended.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum End {
    /// The store had its NEFF.
    Cached(Product),
    /// The compiler made its NEFF.
    Compiled(Product),
    /// There is no NEFF.
    Failed(Diagnostic),
}

impl End {
    /// `cached`, `compiled` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            End::Cached(_) => "cached",
            End::Compiled(_) => "compiled",
            End::Failed(_) => "failed",
        }
    }

    /// The NEFF; `None` where there is none.
    pub fn product(&self) -> Option<&Product> {
        match self {
            End::Cached(product) | End::Compiled(product) => Some(product),
            End::Failed(_) => None,
        }
    }

    /// Why there is no NEFF; `None` where there is one.
    pub fn error(&self) -> Option<&Diagnostic> {
        match self {
            End::Cached(_) | End::Compiled(_) => None,
            End::Failed(error) => Some(error),
        }
    }
}

/// A NEFF in the output folder.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Product {
    /// The files `<module>.neff` in the output folder, one for each module, all of the same content.
    pub files: Vec<PathBuf>,
    /// The size of each in bytes.
    pub bytes: u64,
    /// Their SHA-256, in hex.
    pub sha256: String,
}

/// A task at work.
struct Job<'a> {
    task: &'a Task,
    options: &'a Options<'a>,
    observer: &'a dyn Observer,
    key: String,
    log: Option<PathBuf>,
    warnings: Diagnostics,
}

pub(super) fn run(task: &Task, options: &Options<'_>, observer: &dyn Observer) -> Outcome {
    let start = Instant::now();
    let key = key(&task.canonical, &options.compiler.version, &task.flags);
    let mut job = Job { task, options, observer, key, log: None, warnings: Diagnostics::new() };
    let end = job.run().unwrap_or_else(End::Failed);
    let Job { key, log, warnings, .. } = job;
    Outcome { modules: task.modules.clone(), key, end, elapsed: start.elapsed(), log, warnings }
}

impl Job<'_> {
    fn run(&mut self) -> Result<End> {
        let Options { store, interrupt, .. } = *self.options;
        let waiting = || self.observer.waiting(self.task);
        let lock = store.lock(&self.key, interrupt, waiting)?.ok_or_else(|| self.stopped())?;
        match store.fetch(&self.key, &lock) {
            Ok(Some(finished)) => {
                if let Err(error) = work::clear(store, &self.key, &lock) {
                    self.warnings.push(Diagnostic::warning(codes::NEFF_STORE, error.message()));
                }
                return Ok(End::Cached(self.deliver(&finished)?));
            }
            Err(reason) => {
                let message = format!("the stored NEFF of `{}` is damaged and is made again", self.task.name());
                self.warnings.push(Diagnostic::warning(codes::NEFF_STORE, message).note(reason));
                store.discard(&self.key, &lock)?;
            }
            Ok(None) => {}
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err(self.stopped());
        }
        self.clear_output()?;
        let finished = self.compile(&lock)?;
        Ok(End::Compiled(self.deliver(&finished)?))
    }

    fn stopped(&self) -> Diagnostic {
        Diagnostic::error(codes::COMPILER_STOPPED, format!("stopped before `{}` was compiled", self.task.name()))
    }

    fn place(&self, module: &str, ending: &str) -> PathBuf {
        self.options.output.join(format!("{module}.{ending}"))
    }

    /// Removes NEFFs of other programs that stand where those of this task will.
    fn clear_output(&self) -> Result<()> {
        for module in &self.task.modules {
            for path in [self.place(module, "neff"), self.place(module, "json")] {
                Disk::default().remove(&path).map_err(|error| cannot("remove", &path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes the NEFF, its log and the record of what it was made of for every module. The record comes last: one that is there after a
    /// crash is that of the NEFF beside it or says that it is not.
    fn deliver(&mut self, finished: &Finished) -> Result<Product> {
        let Entry { bytes, ref sha256, ref compiler, .. } = finished.entry;
        let mut written = Vec::new();
        for (module, record) in self.task.modules.iter().zip(&self.task.records) {
            halite_disk::write(&self.place(module, "log"), &finished.log)?;
            let path = self.place(module, "neff");
            halite_disk::write(&path, &finished.neff)?;
            let record = NeffRecord { neff: sha256.clone(), compiler: compiler.clone(), ..record.clone() };
            halite_disk::write(&self.place(module, "json"), record.to_json().as_bytes())?;
            written.push(path);
        }
        self.log = Some(self.place(self.task.name(), "log"));
        Ok(Product { files: written, bytes, sha256: sha256.clone() })
    }

    /// Has the compiler make the NEFF, and stores it.
    fn compile(&mut self, lock: &KeyLock) -> Result<Finished> {
        let store = self.options.store;
        let work = Work::begin(store, &self.key, lock)?;
        self.observer.compiling(self.task);
        let made = self.run_compiler(&work).and_then(|exit| self.judge(exit, &work));
        let log = gathered_log(work.path());
        let neff = match made {
            Ok(neff) => neff,
            Err(failure) => return Err(self.explain(failure, &log, work)),
        };
        let finished = Finished { entry: self.entry(&neff), neff, log: log.into_bytes() };
        let stored = store.put(&self.key, &finished, work.path(), lock).and_then(|()| work.finish());
        if let Err(error) = stored {
            let message = format!("the NEFF of `{}` is not stored", self.task.name());
            self.warnings.push(Diagnostic::warning(codes::NEFF_STORE, message).note(error.message()));
        }
        Ok(finished)
    }

    fn run_compiler(&self, work: &Work) -> Result<Exit> {
        let Options { compiler, timeout, interrupt, .. } = *self.options;
        let folder = work.path();
        halite_disk::write(&folder.join(command::input(self.task.name())), &self.task.hlo)?;
        let printed = folder.join(PRINTED);
        let output = File::create(&printed).map_err(|error| cannot("write", &printed, &error))?;
        let failed = |error: io::Error| cannot("run", &compiler.program, &error);
        let mut command = Command::new(&compiler.program);
        command.args(command::arguments(self.task.name(), &self.task.flags)).current_dir(folder);
        command.stdin(work.input().map_err(failed)?);
        process::run(&mut command, &output, Limits { timeout, interrupt }).map_err(failed)
    }

    /// The NEFF, if the compiler ended well and left one.
    fn judge(&self, exit: Exit, work: &Work) -> Result<Vec<u8>> {
        let name = self.task.name();
        let failed = |what: String| Diagnostic::error(codes::COMPILER_FAILED, what);
        match exit {
            Exit::Interrupted => {
                let message = format!("stopped while `{name}` was compiled");
                return Err(Diagnostic::error(codes::COMPILER_STOPPED, message));
            }
            Exit::TimedOut => {
                let limit = self.options.timeout.unwrap_or_default().as_secs_f64();
                return Err(failed(format!("`neuronx-cc` did not finish `{name}` within {limit} s"))
                    .help("give it more time with `--timeout`, or look into the log for where it hangs"));
            }
            Exit::Flooded => {
                let most = bytes(process::MOST_PRINTED);
                return Err(failed(format!(
                    "`neuronx-cc` printed more than {most} while it compiled `{name}`, and was ended"
                ))
                .help("look into the log for what it repeats"));
            }
            Exit::Ended(status) if !status.success() => {
                return Err(failed(format!("`neuronx-cc` did not compile `{name}`: {}", ending(status))));
            }
            Exit::Ended(_) => {}
        }
        let Ok(neff) = std::fs::read(work.path().join(command::output(self.task.name()))) else {
            return Err(failed(format!("`neuronx-cc` reported success for `{name}` and left no NEFF")));
        };
        let because = |fault: String| {
            failed(format!("`neuronx-cc` reported success for `{name}`, and what it left is no NEFF: it {fault}"))
        };
        match neff::fault(&neff) {
            None => Ok(neff),
            Some(fault) => Err(because(fault)),
        }
    }

    fn entry(&self, neff: &[u8]) -> Entry {
        Entry {
            key: self.key.clone(),
            model: self.task.model.clone(),
            module: self.task.name().to_owned(),
            bytes: neff.len() as u64,
            sha256: sha256(neff),
            hlo: self.task.canonical.clone(),
            compiler: self.options.compiler.version.text.clone(),
            flags: normalized_flags(&self.task.flags),
            flag_hash: flag_hash(&self.task.flags),
        }
    }

    /// Adds to a failure what the log says, and where everything is.
    fn explain(&mut self, failure: Diagnostic, log: &str, work: Work) -> Diagnostic {
        let mut failure = log::read(log, &self.task.hlo).explain(failure);
        let path = self.place(self.task.name(), "log");
        match halite_disk::write(&path, log.as_bytes()) {
            Ok(()) => {
                failure = failure.note(format!("its log is `{}`", path.display()));
                self.log = Some(path);
            }
            Err(error) => failure = failure.note(error.message()),
        }
        match work.keep(self.options.store, &self.key) {
            Ok(place) => failure.note(format!("everything it wrote is in `{}`", place.display())),
            Err(error) => failure.note(error.message()),
        }
    }
}

/// Describes how a process ended badly.
fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(9)) => "it was killed by signal 9, as happens when the memory of the host runs out".to_owned(),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

/// Joins the output of the compiler and its log file.
fn gathered_log(folder: &Path) -> String {
    let read = |name: &str| process::end_of(&folder.join(name));
    let section =
        |title: &str, text: String| if text.is_empty() { text } else { format!("== {title}\n{}\n", text.trim_end()) };
    section("what neuronx-cc printed", read(PRINTED)) + &section(COMPILER_LOG, read(COMPILER_LOG))
}
