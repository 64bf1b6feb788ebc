//! Signals that end a run where it can be resumed.

use halite_support::{Diagnostic, Diagnostics, codes};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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

/// The signals that this process ignores, a bit for each, the lowest for the first; none where the system does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0)
}

/// The signals that are caught from now on.
#[derive(Clone, Debug)]
pub(super) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Catches the first signal; the next one ends the process at once. What this process was started to ignore, as by
    /// `nohup`, it ignores.
    pub(super) fn catch() -> Result<Self, Diagnostics> {
        let (number, is_caught) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let ignored = ignored();
        for (signal, name) in SIGNALS.into_iter().filter(|(signal, _)| ignored & (1 << (signal - 1)) == 0) {
            // In this order: the first signal does not see the flag that it sets.
            flag::register_conditional_shutdown(signal, ENDED_BY_SIGNAL + signal, Arc::clone(&is_caught))
                .and_then(|_| flag::register(signal, Arc::clone(&is_caught)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&number), signal.unsigned_abs() as usize))
                .map_err(|error| Diagnostic::error(codes::FILE, format!("{name} cannot be caught: {error}")))?;
        }
        Ok(Self(number))
    }

    /// The signal that was caught, if there was one.
    pub(super) fn caught(&self) -> Option<Caught> {
        let number = self.0.load(Ordering::Relaxed);
        let (signal, name) = SIGNALS.into_iter().find(|(signal, _)| signal.unsigned_abs() as usize == number)?;
        Some(Caught { name, code: u8::try_from(ENDED_BY_SIGNAL + signal).unwrap_or(u8::MAX) })
    }
}
