//! Signals that end a run where it can be resumed.

use halite_support::{Diagnostic, Diagnostics, codes};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Incoming;
use std::sync::{Arc, OnceLock};

/// What asks a process to end, by name.
const SIGNALS: [(i32, &str); 3] = [(SIGHUP, "SIGHUP"), (SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")];

/// The exit code of a process that a signal ended is this and the number of the signal.
const ENDED_BY_SIGNAL: i32 = 128;

/// A signal that was caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Caught {
    pub(super) name: &'static str,
    /// How the process is to exit.
    pub(super) code: u8,
}

impl Caught {
    fn of(number: i32) -> Option<Self> {
        let (signal, name) = SIGNALS.into_iter().find(|(signal, _)| *signal == number)?;
        Some(Self { name, code: u8::try_from(ENDED_BY_SIGNAL + signal).unwrap_or(u8::MAX) })
    }
}

/// The signals that this process ignores, a bit for each, the lowest for the first; none where the system does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0)
}

/// The signals that are caught from now on.
#[derive(Clone, Debug)]
pub(super) struct Signals(Arc<OnceLock<Caught>>);

impl Signals {
    /// Catches the first signal; the next one ends the process at once. What this process was started to ignore, as by
    /// `nohup`, it ignores.
    pub(super) fn catch() -> Result<Self, Diagnostics> {
        let ignored = ignored();
        let numbers = SIGNALS.map(|(signal, _)| signal).into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut incoming = Incoming::new(numbers)
            .map_err(|error| Diagnostic::error(codes::FILE, format!("signals cannot be caught: {error}")))?;
        let first = Arc::new(OnceLock::new());
        let signals = Self(first.clone());
        // One thread takes all, since handlers of two signals may run on two threads at once, and each be the first.
        std::thread::spawn(move || {
            for caught in incoming.forever().filter_map(Caught::of) {
                if first.set(caught).is_err() {
                    signal_hook::low_level::exit(caught.code.into());
                }
            }
        });
        Ok(signals)
    }

    /// The first signal that was caught, if there was one.
    pub(super) fn caught(&self) -> Option<Caught> {
        self.0.get().copied()
    }
}
