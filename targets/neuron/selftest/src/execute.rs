//! Programs in processes of their own.

use crate::blob;
use crate::check::Case;
use crate::job::{self, Answer, Job, Order, Ready};
use crate::place::{Limits, Place, Runtime};
use crate::scrub::scrub;
use halite_disk::Disk;
use halite_neuron::neuronx::process::{self, Exit};
use halite_neuron::settings::forbidden;
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The results of a case, `[run][rank][output]`.
pub(crate) type Results = Vec<Vec<Vec<HostTensor>>>;

/// How long a process may take beside its calls: it opens libraries and copies tensors.
const OVERHEAD: Duration = Duration::from_secs(60);

/// The cores that a process is told to take, and where ranks find each other.
const VISIBLE_CORES: &str = "NEURON_RT_VISIBLE_CORES";
const ROOT: &str = "NEURON_RT_ROOT_COMM_ID";

/// Runs programs, and numbers the folders of their processes.
pub(crate) struct Executor<'a> {
    pub(crate) place: &'a Place,
    pub(crate) runtime: &'a Runtime,
    pub(crate) limits: &'a Limits<'a>,
    /// Variables that programs of the target need.
    pub(crate) environment: &'a [(String, String)],
    pub(crate) started: usize,
}

/// A case and its NEFF, where the runtime takes one.
pub(crate) type Ordered<'c> = (&'c Case, Option<PathBuf>);

impl Executor<'_> {
    /// Starts the runtime and returns its description of itself, or the reason why there is none.
    pub(crate) fn ask(&mut self) -> std::result::Result<Ready, String> {
        let folder = self.folder();
        let said = self.spawn(&[], &folder, (0, 1), &[]).map_err(|error| scrub(error.message()))?;
        job::get(&job::ready(&folder)).ok_or(said)
    }

    /// The results of each case, or why there are none. Cases of one environment and number of ranks share a process until one fails;
    /// those that run the program of another once more come after it, in another process.
    pub(crate) fn run(&mut self, cases: &[Ordered<'_>]) -> Vec<std::result::Result<Results, String>> {
        let mut results: Vec<Option<std::result::Result<Results, String>>> = cases.iter().map(|_| None).collect();
        while let Some(first) = results.iter().position(Option::is_none) {
            let alike = |at: &usize| {
                let (one, other) = (cases[first].0, cases[*at].0);
                let is_alike = one.environment == other.environment && one.again.is_some() == other.again.is_some();
                results[*at].is_none() && one.ranks() == other.ranks() && is_alike
            };
            let group: Vec<usize> = (0..cases.len()).filter(alike).collect();
            let members: Vec<&Ordered<'_>> = group.iter().map(|&at| &cases[at]).collect();
            for (at, outcome) in group.into_iter().zip(self.group(&members)) {
                results[at] = outcome;
            }
        }
        results.into_iter().map(|result| result.unwrap_or_else(|| Err("it was not run".to_owned()))).collect()
    }

    /// Runs cases in one process for each rank. Cases after one that fails have no result, and are left for the next processes.
    fn group(&mut self, cases: &[&Ordered<'_>]) -> Vec<Option<std::result::Result<Results, String>>> {
        let world = match self.runtime {
            Runtime::Nrt(_) => cases.first().map_or(1, |(case, _)| case.ranks()),
            Runtime::Pjrt(_) => 1,
        };
        let folders: Vec<PathBuf> = (0..world).map(|_| self.folder()).collect();
        let own = cases.first().map_or(&[][..], |(case, _)| &case.environment);
        let this = &*self;
        let said: Vec<Result<String>> = std::thread::scope(|scope| {
            let workers: Vec<_> = folders
                .iter()
                .enumerate()
                .map(|(rank, folder)| scope.spawn(move || this.spawn(cases, folder, (rank, world), own)))
                .collect();
            let lost = |_| Err(Diagnostic::bug("a thread that waits for a process ended"));
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(lost)).collect()
        });
        let mut is_over = false;
        cases
            .iter()
            .map(|(case, _)| {
                if is_over {
                    return None;
                }
                let outcome = gather(case, &folders, &said);
                is_over = outcome.is_err();
                Some(outcome)
            })
            .collect()
    }

    /// A folder for a process, without what an earlier self-test left there: its answers are none of this one.
    fn folder(&mut self) -> PathBuf {
        self.started += 1;
        let folder = self.place.work.join(format!("process-{}", self.started));
        // What cannot be removed cannot be written to either, which is told when the job is.
        let _ = Disk::default().remove_folder(&folder);
        folder
    }

    /// Runs a process to its end. Returns how it ended, for a caller that misses an answer of it.
    fn spawn(
        &self,
        cases: &[&Ordered<'_>],
        folder: &Path,
        (rank, world): (usize, usize),
        own: &[(String, String)],
    ) -> Result<String> {
        let local = if world > 1 { Some(rank) } else { None };
        let programs = cases.iter().map(|ordered| self.order(ordered, folder, local)).collect::<Result<_>>()?;
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let job = Job {
            runtime: self.runtime.clone(),
            rank: (number(rank), number(world)),
            call_seconds: self.limits.call.as_secs().max(1),
            load_seconds: self.limits.load.as_secs().max(1),
            programs,
        };
        job::put(&job::job(folder), &job)?;
        let said = folder.join("said.txt");
        let failed = |error| cannot("write", &said, &error);
        let file = File::create(&said).map_err(failed)?;
        let mut command = self.command(folder, (rank, world), own);
        command.stdin(Stdio::null());
        let runs: usize = cases.iter().map(|(case, _)| case.runs.len()).sum();
        let calls = self.limits.call.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX).saturating_add(1));
        let limit = self.limits.load.saturating_add(calls).saturating_add(OVERHEAD).min(self.limits.process);
        let limits = process::Limits { timeout: Some(limit), interrupt: self.limits.interrupt };
        let exit = process::run(&mut command, &file, limits);
        let exit = exit.map_err(|error| Diagnostic::error(codes::SELFTEST, format!("no process starts: {error}")))?;
        Ok(ending(exit, limit, &said))
    }

    fn command(&self, folder: &Path, (rank, world): (usize, usize), own: &[(String, String)]) -> Command {
        let mut command = Command::new(&self.place.launcher.program);
        command.args(&self.place.launcher.arguments).arg(folder);
        for variable in forbidden() {
            command.env_remove(&variable.name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(own.iter().map(|(name, value)| (name, value)));
        if matches!(self.runtime, Runtime::Nrt(_)) && world > 1 {
            command.env(VISIBLE_CORES, rank.to_string()).env(ROOT, format!("127.0.0.1:{}", self.limits.port));
        }
        command.envs(self.place.launcher.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Writes what a program needs into the folder of a process: the inputs of one rank, or of all.
    fn order(&self, (case, neff): &Ordered<'_>, folder: &Path, rank: Option<usize>) -> Result<Order> {
        let is_own = |at: usize| rank.is_none_or(|rank| rank == at);
        let of_run = |run: &'_ Vec<Vec<HostTensor>>| -> Vec<HostTensor> {
            run.iter().enumerate().filter(|(at, _)| is_own(*at)).flat_map(|(_, inputs)| inputs.clone()).collect()
        };
        let inputs: Vec<HostTensor> = case.runs.iter().flat_map(of_run).collect();
        blob::write(&job::inputs(folder, &case.name), inputs.iter())?;
        let hlo = folder.join(format!("{}.hlo.pb", case.name));
        halite_disk::write(&hlo, &case.program.hlo)?;
        Ok(Order {
            name: case.name.clone(),
            hlo,
            neff: neff.clone(),
            ranks: case.ranks(),
            inputs: case.program.names.0.clone(),
            outputs: case.program.names.1.clone(),
            aliases: case.program.aliases.clone(),
            runs: case.runs.len(),
        })
    }
}

/// The results of all ranks, or why one has none.
fn gather(case: &Case, folders: &[PathBuf], said: &[Result<String>]) -> std::result::Result<Results, String> {
    let mut of_processes = Vec::new();
    for (folder, said) in folders.iter().zip(said) {
        match job::get::<Answer>(&job::answer(folder, &case.name)) {
            Some(Answer { error: Some(error) }) => return Err(scrub(&error)),
            Some(Answer { error: None }) => {
                let results = blob::load(&job::results(folder, &case.name));
                of_processes.push(results.map_err(|error| scrub(error.message()))?.into_iter());
            }
            None => {
                let why = said.as_ref().map_or_else(|error| error.message().to_owned(), Clone::clone);
                return Err(scrub(&why));
            }
        }
    }
    let (width, ranks) = (case.program.names.1.len(), case.ranks());
    let mut rank = |at: usize| {
        let process = if of_processes.len() > 1 { at } else { 0 };
        of_processes.get_mut(process).map(|results| results.by_ref().take(width).collect()).unwrap_or_default()
    };
    Ok((0..case.runs.len()).map(|_| (0..ranks).map(&mut rank).collect()).collect())
}

/// Describes how a process ended that left no answer, with the last line that it wrote.
fn ending(exit: Exit, limit: Duration, said: &Path) -> String {
    let text = process::end_of(said);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let line = line.map_or_else(String::new, |line| format!("; it wrote last: {}", scrub(&short(line))));
    match exit {
        Exit::Ended(status) if status.success() => format!("its process ended without an answer{line}"),
        Exit::Ended(status) => format!("its process broke off ({}){line}", scrub(&status.to_string())),
        Exit::TimedOut => format!("its process did not end within {} s and was ended{line}", limit.as_secs()),
        Exit::Flooded => format!("its process printed without end and was ended{line}"),
        Exit::Interrupted => "it was stopped".to_owned(),
    }
}

fn short(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).take(160).collect()
}
