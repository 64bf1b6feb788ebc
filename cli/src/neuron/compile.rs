//! `halite neuron compile`.

use super::progress::Progress;
use super::{store_folder, units};
use crate::context::{Context, Output, Result};
use crate::table::{bytes, counted, table};
use clap::Args;
use halite_neuron::neuronx::{
    self, Compiler, MEMORY_PER_JOB, Options, Outcome, Store, Task, arguments, check_environment, default_jobs,
    flag_hash, host_memory, script,
};
use halite_neuron::settings::forbidden;
use halite_support::{Diagnostic, Diagnostics, Severity, codes};
use indexmap::IndexMap;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Compile the modules of a bundle to NEFFs with `neuronx-cc`.
///
/// Modules are compiled side by side, one for each 64 GiB of the host's memory. What was compiled before, from the same
/// program with the same flags by the same compiler, comes from the store. Each module gets `<module>.neff` and
/// `<module>.log` in the output folder. Needs no Neuron device.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite neuron compile build/hlat-7b
  halite neuron compile build/hlat-7b --jobs 2 --timeout 6h
  halite neuron compile build/hlat-7b --cache /scratch/neff \\
    --neuronx-cc ~/neuron/bin/neuronx-cc
  halite neuron compile build/hlat-7b --dry-run > compile.sh

Exit codes: 0 all modules have a NEFF, 1 a compile failed or was stopped, 2 the input is wrong, 3 there is no `neuronx-cc`")]
pub(crate) struct Compile {
    /// The folder of the bundle.
    bundle: PathBuf,
    /// Folder for NEFFs and logs [default: BUNDLE/neff].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The compiler [default: $HALITE_NEURONX_CC, else `neuronx-cc` on the PATH].
    #[arg(long, value_name = "PATH")]
    neuronx_cc: Option<PathBuf>,
    /// The folder of the store [default: halite/neff in the cache folder of the user].
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Neither look into the store nor add to it.
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// Number of compilers that may run at once [default: by the memory of this machine].
    #[arg(short, long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
    /// Memory of this machine for each compiler that runs at once [default: 64GiB].
    #[arg(long, value_name = "SIZE", value_parser = memory, conflicts_with = "jobs")]
    memory_per_job: Option<NonZeroU64>,
    /// End a compiler that takes longer, e.g. `90m` or `6h` [default: none].
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    timeout: Option<Duration>,
    /// Compile nothing and print the commands as a shell script. Needs no compiler.
    #[arg(long)]
    dry_run: bool,
}

fn memory(text: &str) -> std::result::Result<NonZeroU64, String> {
    units::bytes(text).and_then(|bytes| NonZeroU64::new(bytes).ok_or_else(|| "expected more than nothing".to_owned()))
}

impl Compile {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let bundle = context.session.read_bundle(&self.bundle)?;
        let tasks = neuronx::plan(&bundle)?;
        let output = self.output.clone().unwrap_or_else(|| self.bundle.join(halite_bundle::NEFFS));
        if self.dry_run {
            return Ok(self.describe(&tasks, &output, &bundle.manifest.environment));
        }
        let refused = check_environment();
        if !refused.is_empty() {
            return Err(refused);
        }
        let interrupt = interrupt()?;
        let program = neuronx::find(self.neuronx_cc.as_deref())?;
        let compiler = Compiler::ask(program, &interrupt)?;
        let mut warnings = compiler.warnings(halite_neuron::Neuron::read(&bundle.manifest.recipe)?.compiler.as_ref());
        let store = self.store(&mut warnings)?;
        let options = Options {
            jobs: self.jobs(),
            timeout: self.timeout,
            ..Options::new(&compiler, &store, &output, &interrupt)
        };
        context.show(&warnings);
        let outcomes = neuronx::compile(&tasks, &options, &Progress::new(context));
        store.close();
        let outcomes = outcomes?;
        Ok(report(&outcomes, &compiler))
    }

    fn jobs(&self) -> usize {
        let by_memory = || default_jobs(host_memory(), self.memory_per_job.unwrap_or(MEMORY_PER_JOB));
        self.jobs.map_or_else(by_memory, NonZeroUsize::get)
    }

    /// The store. When nobody asked for a certain one, the compile goes on without.
    fn store(&self, warnings: &mut Diagnostics) -> halite_support::Result<Store> {
        if self.no_cache {
            return Store::temporary();
        }
        match store_folder(self.cache.as_deref()).and_then(|folder| Store::open(&folder)) {
            Err(error) if self.cache.is_none() => {
                let warning = Diagnostic::warning(codes::NEFF_STORE, error.message());
                let warning = error.notes().iter().fold(warning, |warning, note| warning.note(note));
                warnings.push(warning.note("what is compiled now is not stored"));
                Store::temporary()
            }
            store => store,
        }
    }

    /// The commands without running them.
    fn describe(&self, tasks: &[Task], output: &Path, environment: &IndexMap<String, String>) -> Output {
        let program = self.neuronx_cc.clone().unwrap_or_else(|| PathBuf::from("neuronx-cc"));
        let task = |task: &Task| {
            json!({
                "modules": task.modules(),
                "file": task.file(),
                "arguments": arguments(task.name(), task.flags()),
                "flags": task.flags(),
                "flag_hash": flag_hash(task.flags()),
                "hlo": task.sha256(),
            })
        };
        let unset: Vec<&str> = forbidden().map(|variable| variable.name.as_str()).collect();
        let json = json!({
            "program": program,
            "unset": unset,
            "environment": environment,
            "output": output,
            "tasks": tasks.iter().map(task).collect::<Vec<_>>(),
        });
        Output::verbatim(script(tasks, &program, &self.bundle, output, environment), json)
    }
}

/// A flag that becomes true when this process is asked to end.
pub(super) fn interrupt() -> Result<Arc<AtomicBool>> {
    let interrupt = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let registered = signal_hook::flag::register(signal, Arc::clone(&interrupt));
        registered.map_err(|error| Diagnostic::bug(format!("signal {signal} cannot be caught: {error}")))?;
    }
    Ok(interrupt)
}

fn report(outcomes: &[Outcome], compiler: &Compiler) -> Output {
    let head = ["module", "", "time", "NEFF", "log"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(outcomes.iter().flat_map(rows)).collect();
    let of_outcome =
        |outcome: &Outcome| outcome.warnings.iter().chain(outcome.end.error()).cloned().collect::<Diagnostics>();
    let warnings: Diagnostics = outcomes.iter().flat_map(of_outcome).collect();
    let failures = warnings.iter().filter(|warning| warning.severity() >= Severity::Error).count();
    let mut text = table(&rows);
    if failures > 0 {
        text.push_str(&format!("{} without a NEFF\n", counted(failures, "program")));
    }
    let json = json!({
        "compiler": {"program": compiler.program(), "version": compiler.version()},
        "outcomes": outcomes.iter().map(outcome_json).collect::<Vec<_>>(),
    });
    Output { warnings, failed: failures > 0, ..Output::new(text, json) }
}

/// A row for each module.
fn rows(outcome: &Outcome) -> Vec<Vec<String>> {
    let size = outcome.end.product().map_or_else(|| "none".to_owned(), |product| bytes(product.bytes));
    let log = outcome.log.as_ref().map_or_else(String::new, |path| path.display().to_string());
    let row = |module: &String| {
        let cells = [outcome.end.name().to_owned(), units::spoken(outcome.elapsed), size.clone(), log.clone()];
        std::iter::once(module.clone()).chain(cells).collect()
    };
    outcome.modules.iter().map(row).collect()
}

fn outcome_json(outcome: &Outcome) -> Value {
    let mut json = json!({
        "modules": outcome.modules,
        "key": outcome.key,
        "state": outcome.end.name(),
        "seconds": outcome.elapsed.as_secs_f64(),
        "log": outcome.log,
    });
    if let Some(product) = outcome.end.product() {
        json["neff"] = json!({"files": product.files, "bytes": product.bytes, "sha256": product.sha256});
    }
    if let Some(error) = outcome.end.error() {
        json["error"] = json!(error.message());
    }
    json
}
