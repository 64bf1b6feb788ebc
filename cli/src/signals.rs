//! Signals that end a run where it can be resumed.

use halite_support::{CancelToken, Diagnostic, Diagnostics};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals as Incoming;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The signals that ask a process to end, by name.
const SIGNALS: [(i32, &str); 3] = [(SIGHUP, "SIGHUP"), (SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")];

/// The exit code of a process that a signal ended is this and the number of the signal.
const ENDED_BY_SIGNAL: i32 = 128;

/// A signal that was caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Caught {
    pub(super) name: &'static str,
    /// The exit code of the process.
    pub(super) code: u8,
}

impl Caught {
    /// The exit code of a process that stops because another one was asked to stop: that of SIGTERM.
    pub(super) const ELSEWHERE: u8 = (ENDED_BY_SIGNAL + SIGTERM) as u8;

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
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    first: Arc<OnceLock<Caught>>,
    /// Whether SIGUSR1 came since somebody looked.
    wish: Arc<AtomicBool>,
}

impl Signals {
    /// Catches the first signal that asks to end, which cancels the work; SIGINT after it ends the process at once. The others do not: a
    /// scheduler and the launch script both pass SIGTERM on, and a process that gets it twice was asked once. SIGUSR1 requests a
    /// checkpoint. What this process was started to ignore, as by `nohup`, it ignores.
    pub(super) fn catch(cancel: CancelToken) -> Result<Self, Diagnostics> {
        let ignored = ignored();
        let numbers = SIGNALS
            .map(|(signal, _)| signal)
            .into_iter()
            .chain([SIGUSR1])
            .filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut incoming =
            Incoming::new(numbers).map_err(|error| Diagnostic::bug(format!("signals cannot be caught: {error}")))?;
        let signals = Self::default();
        let Self { first, wish } = signals.clone();
        // One thread takes all, since handlers of two signals may run on two threads at once, and each be the first.
        std::thread::spawn(move || {
            for number in incoming.forever() {
                let Some(caught) = Caught::of(number) else {
                    wish.store(true, Ordering::Relaxed);
                    continue;
                };
                if first.set(caught).is_err() && number == SIGINT {
                    signal_hook::low_level::exit(caught.code.into());
                }
                cancel.cancel();
            }
        });
        Ok(signals)
    }

    /// The first signal that was caught, if there was one.
    pub(super) fn caught(&self) -> Option<Caught> {
        self.first.get().copied()
    }

    /// Whether there was a wish since this was asked before.
    pub(super) fn takes_wish(&self) -> bool {
        self.wish.swap(false, Ordering::Relaxed)
    }
}
