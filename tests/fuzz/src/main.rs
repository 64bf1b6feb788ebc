//! Mutated inputs against everything of Halite that reads what others wrote.
//!
//! Inputs are made of the goldens, bad inputs, models and fixtures of the repository, which are read when the program
//! runs, by changes of bytes, words, lines and fields. Each is a function of seed, target and number, so that any can be
//! made again. They are tried in processes of their own, which may end in any way.
//!
//! A finding is a panic, the end of a process, an execution of more than `--seconds`, more memory than the target is
//! granted, an internal error (exit code 101), a diagnostic without headline or with a span that is none in its text, and
//! something that is taken but is another thing after it is written and read. It is made smaller, saved, and the command
//! that repeats it printed.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers speaks on its streams")]

mod campaign;
mod guard;
mod judge;
mod minimize;
mod mutate;
mod random;
mod repository;
mod target;
mod targets;
mod worker;

use campaign::Tally;
use clap::Parser;
use mutate::Seeds;
use random::Random;
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;
use target::Target;
use worker::{Finding, Job};

/// Tries mutated inputs on Halite.
#[derive(Parser, Debug)]
struct Options {
    /// Targets, or `all`.
    #[arg(required = true)]
    targets: Vec<String>,
    /// Inputs to try, shared among the targets.
    #[arg(long, default_value_t = 20_000)]
    executions: u64,
    /// The number that all inputs follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the first execution.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// The most seconds of the processor for one input.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Processes at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Folder for inputs with findings.
    #[arg(long, default_value = "target/fuzz-findings")]
    save: PathBuf,
    /// Try this file on one target instead.
    #[arg(long)]
    replay: Option<PathBuf>,
}

/// The number of executions of one process.
const BATCH: u64 = 20_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, target, job, seconds, folder] = &arguments[..]
        && word == "worker"
    {
        let target = target::named(target).expect("a worker has a target");
        let job = serde_json::from_str(job).expect("a worker has a job");
        worker::work(target, job, Path::new(folder), seconds.parse().expect("a worker has its time"));
        return ExitCode::SUCCESS;
    }
    let options = Options::parse();
    let names = target::ALL.map(|target| target.name).join(", ");
    let chosen: Option<Vec<Target>> = match &options.targets[..] {
        [all] if all == "all" => Some(target::ALL.to_vec()),
        some => some.iter().map(|name| target::named(name)).collect(),
    };
    let Some(chosen) = chosen else {
        eprintln!("targets are {names}, or `all`");
        return ExitCode::from(2);
    };
    match &options.replay {
        Some(file) => replay(chosen[0], file, &options),
        None => fuzz(&chosen, &options),
    }
}

/// Tries one file.
fn replay(target: Target, file: &Path, options: &Options) -> ExitCode {
    let Ok(file) = file.canonicalize() else {
        eprintln!("{} cannot be read", file.display());
        return ExitCode::from(2);
    };
    let tally = campaign::run(target, &Job::File(file), options.seconds);
    tally.findings.iter().for_each(|finding| println!("{}", finding.message));
    println!("{}", if tally.taken > 0 { "taken" } else { "refused, or wrong" });
    ExitCode::from(u8::from(!tally.findings.is_empty()))
}

/// Tries inputs on each target.
fn fuzz(targets: &[Target], options: &Options) -> ExitCode {
    let shares: u64 = targets.iter().map(|target| target.share).sum();
    let count = |target: &Target| (options.executions * target.share).div_ceil(shares);
    let batches = targets.iter().enumerate().flat_map(|(index, target)| {
        let (count, end) = (count(target), options.from + count(target));
        let batch = move |from| {
            let job = Job::Numbers { seed: options.seed, from, to: end.min(from + BATCH) };
            ((from - options.from) * 1000 / count, index, job)
        };
        (options.from..end).step_by(BATCH as usize).map(batch)
    });
    // All targets are at about the same part of their work.
    let mut batches: Vec<_> = batches.collect();
    batches.sort_by_key(|(part, ..)| *part);
    let queue: Mutex<VecDeque<(usize, Job)>> =
        Mutex::new(batches.into_iter().map(|(_, index, job)| (index, job)).collect());
    let tallies = Mutex::new(vec![Tally::default(); targets.len()]);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some((index, job)) = queue.lock().expect("no worker panics").pop_front() {
                    let tally = campaign::run(targets[index], &job, options.seconds);
                    let mut tallies = tallies.lock().expect("no worker panics");
                    tallies[index].add(tally);
                    let done: u64 = tallies.iter().map(|tally| tally.inputs).sum();
                    let Tally { inputs, findings, .. } = &tallies[index];
                    let (name, found, time) = (targets[index].name, findings.len(), start.elapsed().as_secs());
                    eprintln!(
                        "{time:6} s  {done:9} in all, {name}: {inputs} of {}, {found} findings",
                        count(&targets[index])
                    );
                }
            });
        }
    });
    let tallies = tallies.into_inner().expect("no worker panics");
    println!("target          inputs     taken  findings  seeds");
    let mut failed = false;
    for (target, tally) in targets.iter().zip(&tallies) {
        let Tally { inputs, taken, findings, .. } = tally;
        let seeds = Seeds::new((target.seeds)());
        println!("{:12} {inputs:9} {taken:9} {:9} {:6}", target.name, findings.len(), seeds.len());
        for finding in findings {
            failed = true;
            keep(*target, finding, &seeds, options);
        }
    }
    let total: u64 = tallies.iter().map(|tally| tally.inputs).sum();
    println!("{:12} {total:9}  in {} s, seed {}", "all", start.elapsed().as_secs(), options.seed);
    ExitCode::from(u8::from(failed))
}

/// Saves the input of a finding, made smaller, and says how to repeat it.
fn keep(target: Target, finding: &Finding, seeds: &Seeds, options: &Options) {
    let input = (target.mutate)(seeds, &mut Random::of(options.seed, target.name, finding.number));
    let path = options.save.join(format!("{}-{}-{}", target.name, options.seed, finding.number));
    let write = |bytes: &[u8]| {
        let made = std::fs::create_dir_all(&options.save).and_then(|()| std::fs::write(&path, bytes));
        made.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    let smaller = minimize::minimize(input.clone(), |input| {
        write(input);
        path.canonicalize().is_ok_and(|path| campaign::has(target, &path, &finding.key, options.seconds))
    });
    write(&smaller);
    println!("\n{} #{}: {}", target.name, finding.number, finding.message.trim_end());
    println!("  {} bytes, made smaller: {} bytes, {}", input.len(), smaller.len(), path.display());
    let command = "cargo run --profile fuzz -p halite-fuzz --";
    println!("  again: {command} {} --replay {}", target.name, path.display());
    println!(
        "  or as it was: {command} {} --seed {} --from {} --executions 1",
        target.name, options.seed, finding.number
    );
    _ = std::io::stdout().flush();
}
