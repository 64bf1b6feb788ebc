//! Kills of Halite and of the compilers below it.

use crate::neuronx_faults::bench::{self, Bench};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Folders with a store of their own; each is killed in twice, the second time on what the first left.
const FOLDERS: u64 = 25;
/// The number of folders that are worked on at once.
const THREADS: u64 = 4;
/// The fewest kills that must have hit in each stage.
const LEAST: usize = 10;
/// The most times that storing may be missed for one kill.
const ATTEMPTS: u32 = 20;
/// The longest pause between the sight of a stage and the kill, in milliseconds.
const LATEST: u64 = 30;
/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// The stage of a run when it is hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The compiler is asked for its version.
    Asked,
    /// A compiler has started and has written nothing.
    Started,
    /// Half of a NEFF is written.
    Writing,
    /// Halite puts a NEFF into the store, or from there into the output folder.
    Storing,
}

impl Stage {
    const ALL: [Self; 4] = [Self::Asked, Self::Started, Self::Writing, Self::Storing];

    /// The stage at which the stand-in waits to be hit; it has ended when Halite stores what it made.
    fn gate(self) -> Option<&'static str> {
        match self {
            Self::Asked => Some("asked"),
            Self::Started => Some("started"),
            Self::Writing => Some("writing"),
            Self::Storing => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    Halite,
    Compiler,
}

/// The process that dies, and the signal.
const VICTIMS: [(Victim, Signal); 6] = [
    (Victim::Halite, Signal::KILL),
    (Victim::Halite, Signal::TERM),
    (Victim::Halite, Signal::INT),
    (Victim::Compiler, Signal::KILL),
    (Victim::Compiler, Signal::TERM),
    (Victim::Compiler, Signal::ABORT),
];

#[test]
fn fifty_kills_leave_nothing_torn_and_lose_no_log() {
    let hits = [const { AtomicUsize::new(0) }; Stage::ALL.len()];
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let hits = &hits;
            scope.spawn(move || {
                for folder in (thread..FOLDERS).step_by(THREADS as usize) {
                    for stage in kills_in_one_folder(folder) {
                        hits[stage as usize].fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let hits = hits.map(AtomicUsize::into_inner);
    assert_eq!(hits.iter().sum::<usize>(), 50, "{hits:?}");
    assert!(hits.iter().all(|count| *count >= LEAST), "{hits:?} in {:?}", Stage::ALL);
}

/// Starts a run whose first compiler hangs, and waits until it does.
fn hanging(bench: &Bench) -> (Child, u32) {
    let mut command = bench.compile(&["--jobs", "1"]);
    let process = command.env("STAND_IN_FAULT", "hang").spawn().unwrap();
    wait_for("a compiler", || bench.started() > 0);
    let compiler = bench.starts()[0].0;
    assert!(is_alive(compiler), "no compiler was started");
    (process, compiler)
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what} was not seen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(id: u32) -> bool {
    // Of one that has ended and is not collected yet, this link cannot be read.
    std::fs::read_link(format!("/proc/{id}/exe")).is_ok()
}

#[test]
fn an_asked_end_takes_the_compiler_along() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let bench = Bench::new();
        let (process, compiler) = hanging(&bench);
        send(signal, process.id());
        let said = bench::finish(process, 1);
        assert!(said.contains("E0712") && said.contains("stopped while `train_step` was compiled"), "{said}");
        assert!(said.contains("stopped before `eval` was compiled"), "{said}");
        assert!(!is_alive(compiler), "{signal:?}");
        check_logs(&bench, "after an asked end");
        bench.succeeds();
    }
}

#[test]
fn a_compiler_without_master_is_ended_by_the_next_run() {
    let bench = Bench::new();
    let (mut process, compiler) = hanging(&bench);
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(is_alive(compiler), "nobody could tell it");
    let removed = bench::run(&mut bench.halite(&["neuron", "cache", "ls"]), 0);
    assert!(removed.contains("of a failed compile"), "{removed}");
    bench.succeeds();
    assert!(!is_alive(compiler));
    check_logs(&bench, "after");
}

/// Kills twice, and has the rest compiled then; returns the stages that were hit.
fn kills_in_one_folder(folder: u64) -> [Stage; 2] {
    let bench = Bench::new();
    let mut random = Random(1 + folder);
    let mut build = 0;
    let stages = [folder % 4, folder / 4 % 4].map(|stage| Stage::ALL[stage as usize]);
    for stage in stages {
        if entries(&bench).len() == bench::MODULES.len() * (build + 1) {
            build += 1;
        }
        let hit = Hit { bench: &bench, stage, victim: random.victim(stage), delay: random.below(LATEST) };
        if stage == Stage::Storing {
            hit.while_storing(&mut build)
        } else {
            hit.at_the_gate(build)
        }
        bench.check_store();
        check_logs(&bench, &format!("folder {folder}: {hit:?}"));
    }
    for build in 0..=build {
        bench::run(&mut compile(&bench, build), 0);
        bench.check_output();
    }
    bench.check_store();
    for (id, work) in bench.starts() {
        assert!(!works_in(id, &work) && !works_in(id, &bench.store().join("failed")), "{id} is left in {work:?}");
    }
    assert_eq!(std::fs::read_dir(bench.store().join("work")).unwrap().count(), 0, "folder {folder}");
    let kept = std::fs::read_dir(bench.store().join("failed")).unwrap().count();
    let listed = bench::run(&mut bench.halite(&["neuron", "cache", "ls"]), 0);
    assert_eq!(listed.matches("of a failed compile").count(), kept, "{listed}");
    stages
}

/// A run with the compiler of a build: each build has keys of its own, so that there is something to compile.
fn compile(bench: &Bench, build: usize) -> Command {
    let mut command = bench.compile(&["--jobs", "2", "--json"]);
    command.env("STAND_IN_VERSION", format!("NeuronX Compiler version 2.27.5334.{build}+standin"));
    command
}

/// A kill that hits.
#[derive(Debug)]
struct Hit<'a> {
    bench: &'a Bench,
    stage: Stage,
    victim: (Victim, Signal),
    delay: u64,
}

impl Hit<'_> {
    /// Kills while the stand-in waits in the stage.
    fn at_the_gate(&self, build: usize) {
        // One of its own, at which no compiler without master of an earlier run waits.
        let gate = NamedTempFile::new_in(self.bench.folder()).unwrap();
        let mut command = compile(self.bench, build);
        command.env("STAND_IN_GATE", format!("{} {}", self.stage.gate().unwrap(), gate.path().display()));
        let process = command.spawn().unwrap();
        let waiting = || -> Option<u32> { std::fs::read_to_string(&gate).unwrap().lines().next()?.parse().ok() };
        wait_for("the gate", || waiting().is_some());
        std::thread::sleep(Duration::from_millis(self.delay));
        let (halite, compiler) = (process.id(), waiting().unwrap());
        assert!(is_alive(halite) && is_alive(compiler), "{self:?}");
        let (victim, signal) = self.victim;
        send(signal, if victim == Victim::Halite { halite } else { compiler });
        match victim {
            // The gate stays shut, so that nothing is compiled to its end meanwhile.
            Victim::Halite => self.check_end(&process.wait_with_output().unwrap()),
            Victim::Compiler => {
                wait_for("the end of the compiler", || !is_alive(compiler));
                drop(gate);
                self.check_end(&process.wait_with_output().unwrap());
            }
        }
    }

    /// Kills Halite, held still to see that it is storing. It does so for a moment only and may be missed; then it tries
    /// again with the next build.
    fn while_storing(&self, build: &mut usize) {
        for _ in 0..ATTEMPTS {
            let before = entries(self.bench);
            let _ = std::fs::remove_dir_all(self.bench.output());
            let mut process = compile(self.bench, *build).spawn().unwrap();
            let start = Instant::now();
            while !is_storing(self.bench, &before) && process.try_wait().unwrap().is_none() {
                assert!(start.elapsed() < PATIENCE, "{self:?}");
                std::thread::sleep(Duration::from_micros(100));
            }
            if process.try_wait().unwrap().is_none() && stop(&process) {
                let is_hit = is_storing(self.bench, &before);
                if is_hit {
                    send(self.victim.1, process.id());
                }
                send(Signal::CONT, process.id());
                if is_hit {
                    return self.check_end(&process.wait_with_output().unwrap());
                }
            }
            assert_eq!(process.wait().unwrap().code(), Some(0));
            *build += 1;
        }
        panic!("storing was missed {ATTEMPTS} times");
    }

    /// A kill that hit shows in how the run ends.
    fn check_end(&self, output: &Output) {
        use std::os::unix::process::ExitStatusExt;
        let (code, signal) = (output.status.code(), output.status.signal());
        let is_right = match (self.victim, self.stage) {
            ((Victim::Halite, Signal::KILL), _) => signal == Some(9),
            // What is stored already is delivered, and may have been the last.
            (_, Stage::Storing) => matches!(code, Some(0 | 1)),
            ((Victim::Compiler, _), Stage::Asked) => code == Some(3),
            _ => code == Some(1),
        };
        assert!(is_right, "{self:?}: {output:?}");
    }
}

/// The folders of the entries of the store.
fn entries(bench: &Bench) -> BTreeSet<PathBuf> {
    let folder = std::fs::read_dir(bench.store().join("entries"));
    folder.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Whether an entry is written, or is new and not delivered yet.
fn is_storing(bench: &Bench, before: &BTreeSet<PathBuf>) -> bool {
    let work = std::fs::read_dir(bench.store().join("work")).into_iter().flatten().flatten();
    let is_delivered = |entry: &PathBuf| {
        let entry: serde_json::Value =
            serde_json::from_slice(&std::fs::read(entry.join("entry.json")).unwrap()).unwrap();
        bench.neff(entry["module"].as_str().unwrap()).exists()
    };
    work.into_iter().any(|work| work.path().join("entry").exists())
        || entries(bench).difference(before).any(|entry| !is_delivered(entry))
}

/// Holds a process still; not one that has ended.
fn stop(process: &Child) -> bool {
    send(Signal::STOP, process.id());
    // Says so of one that has ended too, and leaves it to be collected.
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid(process.id())), options).unwrap().unwrap().stopped()
}

/// Sends a signal to a process that is there.
fn send(signal: Signal, id: u32) {
    kill_process(pid(id), signal).unwrap_or_else(|error| panic!("{signal:?} to {id}: {error}"));
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap()).unwrap()
}

/// Whether a process still is the compiler that was started in a folder.
fn works_in(id: u32, folder: &Path) -> bool {
    std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}

/// Whether of each program that a compiler was started on there is a log: in its entry, in what it left when it failed,
/// or where it works.
fn check_logs(bench: &Bench, context: &str) {
    for (_, work) in bench.starts() {
        let key = work.file_name().unwrap();
        let places = [("entries", "log"), ("failed", "output.txt"), ("work", "output.txt")];
        let has_log = places.iter().any(|(folder, name)| bench.store().join(folder).join(key).join(name).exists());
        assert!(has_log, "{context}: no log of {key:?}");
    }
}

/// A small generator of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % limit
    }

    /// The process that is hit in a stage: no compiler runs when Halite stores what it made.
    fn victim(&mut self, stage: Stage) -> (Victim, Signal) {
        let victims = VICTIMS.iter().filter(|(victim, _)| stage != Stage::Storing || *victim == Victim::Halite);
        let victims: Vec<_> = victims.copied().collect();
        victims[self.below(victims.len() as u64) as usize]
    }
}
