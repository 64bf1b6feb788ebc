//! Running a program to its end, or ending it with everything that it started.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How long a program that was asked to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// When to stop waiting.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// How long it may run; `None` for as long as it takes.
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
}

/// Runs a program as the leader of a process group of its own. When this returns, the whole group is ended.
///
/// # Errors
/// When it cannot be started, or the system does not say how it ended.
pub fn run(command: &mut Command, limits: Limits<'_>) -> io::Result<Exit> {
    let mut child = command.process_group(0).spawn()?;
    let group = pid(&child)?;
    let watched = watch(group, limits);
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
    Ok(watched?.unwrap_or(Exit::Ended(status)))
}

fn pid(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("the process has no id"))
}

/// Waits for the leader to end; `Some` when something else came first.
fn watch(leader: Pid, limits: Limits<'_>) -> io::Result<Option<Exit>> {
    let start = Instant::now();
    while !has_ended(leader)? {
        if limits.interrupt.load(Ordering::Relaxed) {
            return Ok(Some(Exit::Interrupted));
        }
        if limits.timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            return Ok(Some(Exit::TimedOut));
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
        run(Command::new("sh").args(["-c", script]), limits).unwrap()
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
    fn nothing_of_a_group_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 0.3; touch '{}') & exit 0", mark.display());
        assert!(matches!(shell(&script, Duration::from_secs(60), false), Exit::Ended(_)));
        std::thread::sleep(Duration::from_millis(500));
        assert!(!mark.exists());
    }
}
