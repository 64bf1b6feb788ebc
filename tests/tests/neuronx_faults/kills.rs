//! Random kills of Halite and of the compilers below it.

use crate::bench::{self, Bench};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Folders with a store of their own; each is killed in twice, the second time on what the first left.
const FOLDERS: u64 = 25;
const KILLS: u64 = 2;
/// How many folders are worked on at once.
const THREADS: u64 = 4;
/// The longest wait before a kill, in milliseconds; a whole run takes about as long.
const LATEST: u64 = 600;

/// Who dies, by which signal.
const VICTIMS: [(Victim, &str); 6] = [
    (Victim::Halite, "KILL"),
    (Victim::Halite, "TERM"),
    (Victim::Halite, "INT"),
    (Victim::Compiler, "KILL"),
    (Victim::Compiler, "TERM"),
    (Victim::Compiler, "SEGV"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    Halite,
    Compiler,
}

#[test]
fn fifty_random_kills_leave_nothing_torn_and_lose_no_log() {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || (thread..FOLDERS).step_by(THREADS as usize).for_each(kills_in_one_folder));
        }
    });
}

/// Starts a run whose first compiler hangs, and waits until it does.
fn hanging(bench: &Bench) -> (Child, u32) {
    let mut command = bench.compile(&["--jobs", "1"]);
    let process = command.env("STAND_IN_FAULT", "hang").spawn().unwrap();
    let patience = Instant::now();
    while bench.started() == 0 && patience.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let compiler = bench.starts().first().map_or(0, |(id, _)| *id);
    assert!(is_alive(compiler), "no compiler was started");
    (process, compiler)
}

fn is_alive(id: u32) -> bool {
    // Of one that has ended and is not collected yet, this link cannot be read.
    std::fs::read_link(format!("/proc/{id}/exe")).is_ok()
}

#[test]
fn an_asked_end_takes_the_compiler_along() {
    for signal in ["TERM", "INT", "HUP"] {
        let bench = Bench::new();
        let (process, compiler) = hanging(&bench);
        send(signal, process.id());
        let said = bench::finish(process, 1);
        assert!(said.contains("E0712") && said.contains("stopped while `train_step` was compiled"), "{said}");
        assert!(said.contains("stopped before `eval` was compiled"), "{said}");
        assert!(!is_alive(compiler), "{signal}");
        check_logs(&bench, signal);
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

fn kills_in_one_folder(folder: u64) {
    let bench = Bench::new();
    for kill in 0..KILLS {
        let mut random = Random(1 + folder * KILLS + kill);
        let delay = Duration::from_millis(random.below(LATEST));
        let (victim, signal) = VICTIMS[random.below(VICTIMS.len() as u64) as usize];
        let before = bench.started();
        let mut command = bench.compile(&["--jobs", "2", "--json"]);
        let process = command.env("STAND_IN_SLEEP", (50 + random.below(200)).to_string()).spawn().unwrap();
        std::thread::sleep(delay);
        strike(&bench, &process, victim, signal, before);
        let output = process.wait_with_output().unwrap();
        let context = format!("folder {folder}, kill {kill}: {victim:?} by {signal} after {delay:?}");
        // Nothing but 0 (all was done), 1 (a compile failed or was stopped) or the signal itself.
        assert!(matches!(output.status.code(), None | Some(0 | 1)), "{context}: {output:?}");
        bench.check_store();
        check_logs(&bench, &context);
    }
    bench.succeeds();
    for (id, work) in bench.starts() {
        assert!(!works_in(id, &work) && !works_in(id, &bench.store().join("failed")), "{id} is left in {work:?}");
    }
    assert_eq!(std::fs::read_dir(bench.store().join("work")).unwrap().count(), 0, "folder {folder}");
    let kept = std::fs::read_dir(bench.store().join("failed")).unwrap().count();
    assert!(
        kept <= bench::run(&mut bench.halite(&["neuron", "cache", "ls"]), 0).matches("of a failed compile").count()
    );
}

/// Kills Halite, or the compiler that was started last and still runs; Halite when there is none.
fn strike(bench: &Bench, process: &Child, victim: Victim, signal: &str, before: usize) {
    let running = bench.starts().into_iter().skip(before).rfind(|(id, folder)| works_in(*id, folder));
    let id = match (victim, running) {
        (Victim::Compiler, Some((id, _))) => id,
        _ => process.id(),
    };
    send(signal, id);
}

/// Sends a signal to a process, which may be gone.
fn send(signal: &str, id: u32) {
    Command::new("kill").args([&format!("-{signal}"), &id.to_string()]).output().unwrap();
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
}
