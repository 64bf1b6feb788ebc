//! Running a program to its end, or ending it with everything that it started.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The interval at which a running program is polled.
const POLL: Duration = Duration::from_millis(20);
/// How long a program that was asked to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// The most bytes that a program may print.
pub const MOST_PRINTED: u64 = 1 << 28;

/// The bytes that are kept of the output of a program that was ended for printing too much.
const KEPT: u64 = 1 << 20;

/// The most bytes that are read of a text that a program wrote: its end.
const READ: u64 = 1 << 26;

/// Conditions to stop waiting.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The time that it may run; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Becomes true when it is to end at once.
    pub interrupt: &'a AtomicBool,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// By itself or by a signal of someone else.
    Ended(ExitStatus),
    /// It ran too long.
    TimedOut,
    /// The interrupt came.
    Interrupted,
    /// It printed more than [`MOST_PRINTED`]; the beginning of that is kept.
    Flooded,
}

/// Runs a program as the leader of a process group of its own, which prints into a file. When this returns, the whole group is ended.
///
/// # Errors
/// When it cannot be started, or the system does not say how it ended.
pub fn run(command: &mut Command, printed: &File, limits: Limits<'_>) -> io::Result<Exit> {
    let mut child = command.stdout(printed.try_clone()?).stderr(printed.try_clone()?).process_group(0).spawn()?;
    let group = pid(&child)?;
    let watched = watch(group, printed, limits);
    if !matches!(watched, Ok(None)) {
        // Asked first, so that it can put its things in order.
        signal(group, Signal::TERM);
        let patience = Instant::now();
        while patience.elapsed() < GRACE && matches!(has_ended(group), Ok(false)) {
            std::thread::sleep(POLL);
        }
    }
    // Its id is not given to another group before `wait` has collected the leader.
    signal(group, Signal::KILL);
    let status = child.wait()?;
    // Also of one that ended between two looks.
    if printed.metadata()?.len() > MOST_PRINTED {
        printed.set_len(KEPT)?;
    }
    Ok(watched?.unwrap_or(Exit::Ended(status)))
}

fn pid(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("the process has no id"))
}

/// Waits for the leader to end; `Some` when something else came first.
fn watch(leader: Pid, printed: &File, limits: Limits<'_>) -> io::Result<Option<Exit>> {
    let start = Instant::now();
    while !has_ended(leader)? {
        if limits.interrupt.load(Ordering::Relaxed) {
            return Ok(Some(Exit::Interrupted));
        }
        if limits.timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            return Ok(Some(Exit::TimedOut));
        }
        if printed.metadata()?.len() > MOST_PRINTED {
            return Ok(Some(Exit::Flooded));
        }
        std::thread::sleep(POLL);
    }
    Ok(None)
}

/// Whether the leader has ended; it stays there to be collected.
fn has_ended(leader: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(leader), options) {
        Ok(status) => Ok(status.is_some()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The end of a text that a program wrote; nothing where there is none.
pub fn end_of(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let start = file.metadata()?.len().saturating_sub(READ);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(READ).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Sends a signal to a group; one that is gone needs none.
fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration, interrupt: bool) -> Exit {
        let interrupt = AtomicBool::new(interrupt);
        let limits = Limits { timeout: Some(timeout), interrupt: &interrupt };
        run(Command::new("sh").args(["-c", script]), &tempfile::tempfile().unwrap(), limits).unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        let long = Duration::from_secs(60);
        assert!(matches!(shell("exit 3", long, false), Exit::Ended(status) if status.code() == Some(3)));
        assert_eq!(shell("sleep 60", Duration::from_millis(50), false), Exit::TimedOut);
        assert_eq!(shell("sleep 60", long, true), Exit::Interrupted);
        assert_eq!(shell("trap '' TERM; while :; do sleep 0.05; done", long, true), Exit::Interrupted);
    }

    #[test]
    fn one_that_floods_is_ended_and_what_it_printed_cut() {
        let (printed, interrupt) = (tempfile::NamedTempFile::new().unwrap(), AtomicBool::new(false));
        let limits = Limits { timeout: Some(Duration::from_secs(600)), interrupt: &interrupt };
        let exit = run(Command::new("sh").args(["-c", "yes a line of it"]), printed.as_file(), limits).unwrap();
        assert_eq!((exit, printed.as_file().metadata().unwrap().len()), (Exit::Flooded, KEPT));
        assert!(end_of(printed.path()).starts_with("a line of it\n"));
    }

    #[test]
    fn nothing_of_a_group_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 0.3; touch '{}') & exit 0", mark.display());
        assert!(matches!(shell(&script, Duration::from_secs(60), false), Exit::Ended(_)));
        std::thread::sleep(Duration::from_millis(500));
        assert!(!mark.exists());
    }
}
