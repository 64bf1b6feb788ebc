//! The live objects of the runtime: handles are numbers, through which nothing is ever read.

use crate::execute::Program;
use crate::orders;
use crate::statuses::{CLOSED, FAILURE, INVALID, SUCCESS, UNINITIALIZED};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The phase of the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    #[default]
    Start,
    Running,
    Closed,
}

/// Memory of a core.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_written: bool,
}

/// The runtime of the process.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    made: usize,
    calls: BTreeMap<&'static str, u64>,
    pub(crate) tensors: BTreeMap<usize, Memory>,
    pub(crate) sets: BTreeMap<usize, BTreeMap<String, usize>>,
    pub(crate) models: BTreeMap<usize, Arc<Program>>,
    pub(crate) infos: BTreeSet<usize>,
    pub(crate) wrongs: Vec<String>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The state, for the length of a call.
pub(crate) struct Held(MutexGuard<'static, Option<State>>);

impl std::ops::Deref for Held {
    type Target = State;

    fn deref(&self) -> &State {
        self.0.as_ref().expect("it is filled when it is taken")
    }
}

impl std::ops::DerefMut for Held {
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect("it is filled when it is taken")
    }
}

pub(crate) fn state() -> Held {
    let mut guard = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    guard.get_or_insert_default();
    Held(guard)
}

impl State {
    /// A handle that was none before.
    pub(crate) fn handle(&mut self) -> usize {
        self.made += 64;
        self.made
    }

    /// The number of this call of a function, from 1.
    pub(crate) fn count(&mut self, function: &'static str) -> u64 {
        let count = self.calls.entry(function).or_default();
        *count += 1;
        *count
    }

    /// The calls of a function so far.
    pub(crate) fn calls(&self, function: &str) -> u64 {
        self.calls.get(function).copied().unwrap_or(0)
    }

    /// Notes what was done wrong where no status can say so.
    pub(crate) fn wrong(&mut self, what: impl Into<String>) {
        self.wrongs.push(what.into());
    }

    /// The line of the journal.
    pub(crate) fn journal(&self) {
        let Some(path) = orders::variable("JOURNAL") else { return };
        let alive = [self.models.len(), self.tensors.len(), self.sets.len(), self.infos.len()];
        let line = format!("runs {} alive {alive:?} wrong {:?}\n", self.calls("nrt_execute"), self.wrongs);
        let file = std::fs::File::options().create(true).append(true).open(path);
        // The test that reads the file sees what is missing.
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// Begins a call: what it is to answer at once, if that is known. One that is to hang does.
pub(crate) fn begin(function: &'static str) -> Result<(), c_int> {
    let call = state().count(function);
    while orders::hangs(function, call) {
        std::thread::sleep(Duration::from_secs(3600));
    }
    if orders::dies(function, call) {
        let killed = std::process::Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status();
        // The signal is there before the command that sends it has ended.
        drop(killed);
        return Err(FAILURE);
    }
    orders::failure(function, call).map_or(Ok(()), Err)
}

/// As [`begin`], for a call that needs the runtime.
pub(crate) fn enter(function: &'static str) -> Result<Held, c_int> {
    let state_at = state().phase;
    match state_at {
        Phase::Start => return Err(UNINITIALIZED),
        Phase::Closed => return Err(CLOSED),
        Phase::Running => {}
    }
    begin(function)?;
    Ok(state())
}

/// The status of an outcome.
pub(crate) fn status(outcome: Result<(), c_int>) -> c_int {
    outcome.err().unwrap_or(SUCCESS)
}

/// A condition of a call.
pub(crate) fn hold(condition: bool) -> Result<(), c_int> {
    if condition { Ok(()) } else { Err(INVALID) }
}
