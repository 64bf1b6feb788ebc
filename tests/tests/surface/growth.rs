//! How the work of the compiler grows with its input: on a log-log line the slope is 1, and what is above 1.2 is a walk that
//! visits something again and again.
//!
//! Work is counted in instructions of the processor, by cachegrind of valgrind on the program that users run: a count that
//! another process or machine does not change, and that misses no loop, allocating or not. Each kind of input is made in
//! three sizes, each twice the one before; the slope is that between the two *increases* of the count, so that what
//! starting costs drops out. A quick run sees what is exponential or quadratic with large figures, of some kinds;
//! `HALITE_GROWTH_BYTES=1048576` in the release profile is the long run, which sees the rest, and that 1 MB of each kind stays below 2
//! GB of memory and takes at most 10 s. `HALITE_GROWTH_KIND` picks one kind.

mod inputs;

use halite_tests::command_line::halite;
use inputs::{KINDS, Kind};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The largest slope.
const MAX_SLOPE: f64 = 1.2;

/// The most memory for 1 MB of input, and for a run of any size.
const MEMORY: usize = 2 << 30;

/// The longest that 1 MB of input takes in the release profile.
const LONGEST: Duration = Duration::from_secs(10);

/// A limit that work which grows as it should never reaches: a run that takes longer has no count.
const DEADLINE: Duration = Duration::from_secs(600);

/// The largest input in bytes.
fn largest(quick: usize) -> usize {
    std::env::var("HALITE_GROWTH_BYTES").map_or(quick, |bytes| bytes.parse().expect("a number of bytes"))
}

/// Runs a command to its end, and gives its output, or nothing when it did not end in time.
fn run(mut command: Command, folder: &Path) -> Option<Output> {
    let home = folder.join("home");
    command.current_dir(folder).env("HOME", &home).env("XDG_CACHE_HOME", &home).env("NO_COLOR", "1");
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file can be made");
    command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
    let start = Instant::now();
    let mut child = command.spawn().expect("the program starts; counting takes valgrind (`apt install valgrind`)");
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status,
            None if start.elapsed() < DEADLINE => std::thread::sleep(Duration::from_millis(5)),
            None => {
                child.kill().expect("a child can be ended");
                child.wait().expect("a child can be waited for");
                return None;
            }
        }
    };
    let read = |path: &Path| std::fs::read(path).expect("the output is there");
    Some(Output { status, stdout: read(&out), stderr: read(&err) })
}

/// Makes an input of a size and gives the arguments of the command that reads it.
fn make(kind: &Kind, bytes: usize) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let arguments = (kind.make)(folder.path(), bytes);
    (folder, arguments)
}

/// Bad inputs are inputs too; a bug or a signal is not an end.
fn check_end(kind: &Kind, output: &Output) -> Result<(), String> {
    match output.status.code() {
        Some(code) if code == kind.exit => Ok(()),
        code => {
            let text = String::from_utf8_lossy(&output.stderr);
            let end: String = text.chars().take(1500).collect();
            Err(format!("{}: ended with {code:?}, expected {}:\n{end}", kind.name, kind.exit))
        }
    }
}

/// The instructions that the program executes on an input of a size.
fn instructions(kind: &Kind, bytes: usize) -> Result<u64, String> {
    let (folder, arguments) = make(kind, bytes);
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--log-file=counts"]);
    command.arg(halite()).args(&arguments);
    let output = run(command, folder.path()).ok_or_else(|| format!("{}: no end at {bytes} bytes", kind.name))?;
    check_end(kind, &output)?;
    let log = std::fs::read_to_string(folder.path().join("counts")).expect("valgrind writes its log");
    let line = log.lines().find_map(|line| line.split_once("I   refs:"));
    let count = line.map(|(_, count)| count.trim().replace(',', ""));
    count.and_then(|count| count.parse().ok()).ok_or_else(|| format!("{}: no count in `{log}`", kind.name))
}

/// The slope between the last two increases.
fn slope(counts: &[u64]) -> f64 {
    let increase = |at: usize| counts[at + 1].saturating_sub(counts[at]).max(1) as f64;
    (increase(counts.len() - 2) / increase(counts.len() - 3)).log2()
}

/// One line for each kind, by two threads.
#[allow(clippy::print_stdout, reason = "whoever runs it with `--nocapture` sees the counts as they come")]
fn for_each_kind(check: impl Fn(&Kind) -> Result<String, String> + Sync) {
    halite();
    let wanted = std::env::var("HALITE_GROWTH_KIND").ok();
    let kinds: Vec<&Kind> =
        KINDS.iter().filter(|kind| wanted.as_deref().is_none_or(|name| name == kind.name)).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            match check(kind) {
                Ok(line) => println!("{line}"),
                Err(line) => failed.lock().expect("nobody panics with it").push(line),
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failed = failed.into_inner().expect("nobody panics with it");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn work_grows_as_the_input_does() {
    for_each_kind(|kind| {
        let largest = largest(kind.quick);
        if largest == 0 {
            return Ok(format!("{:<24} in the long run only", kind.name));
        }
        let sizes = [largest / 4, largest / 2, largest];
        let counts = sizes.map(|bytes| instructions(kind, bytes));
        let counts = counts.into_iter().collect::<Result<Vec<u64>, String>>()?;
        let slope = slope(&counts);
        let line = format!("{:<24} {slope:.2} {counts:?}", kind.name);
        if slope <= MAX_SLOPE { Ok(line) } else { Err(line) }
    });
}

/// With as much address space as it may use memory, a program that needs more ends.
#[test]
fn a_megabyte_of_input_needs_less_than_two_gigabytes() {
    for_each_kind(|kind| {
        let bytes = largest(16 << 10);
        let (folder, arguments) = make(kind, bytes);
        let mut command = Command::new("bash");
        let limit = format!("ulimit -v {} && exec \"$0\" \"$@\"", MEMORY >> 10);
        command.args(["-c", &limit]).arg(halite()).args(&arguments);
        let start = Instant::now();
        let output = run(command, folder.path()).ok_or_else(|| format!("{}: no end at {bytes} bytes", kind.name))?;
        let took = start.elapsed();
        check_end(kind, &output)?;
        let line = format!("{:<24} fits, {:.1} s", kind.name, took.as_secs_f64());
        if took <= LONGEST || cfg!(debug_assertions) { Ok(line) } else { Err(line) }
    });
}
