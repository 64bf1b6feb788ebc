//! Limits on what an execution takes.

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The exit code of a worker whose execution took too long.
pub(crate) const HANGS: i32 = 99;

/// The most memory that this process takes, in MiB of addresses. An allocation beyond it fails, which ends the process.
///
/// # Panics
/// When the system does not take the limit.
pub(crate) fn limit_memory(mebibytes: u64) {
    let limit = Some(mebibytes << 20);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).expect("a process may limit itself");
}

/// Ends the process when an execution takes too long. What counts is the time of the processor, so that other work on the
/// machine changes nothing; one that only waits gets ten times as long by the clock.
#[derive(Debug)]
pub(crate) struct Watch {
    /// When the execution began, in milliseconds of the processor plus one; 0 when there is none.
    began: Arc<AtomicU64>,
}

impl Watch {
    pub(crate) fn start(seconds: u64) -> Self {
        let began = Arc::new(AtomicU64::new(0));
        let seen = began.clone();
        std::thread::spawn(move || {
            let (mut last, mut since) = (0, Instant::now());
            loop {
                std::thread::sleep(Duration::from_millis(100));
                let began = seen.load(Ordering::Relaxed);
                if began != last {
                    (last, since) = (began, Instant::now());
                }
                let busy = began > 0 && now().saturating_sub(began) > seconds * 1000;
                let waits = began > 0 && since.elapsed() > Duration::from_secs(10 * seconds);
                if busy || waits {
                    std::process::exit(HANGS);
                }
            }
        });
        Self { began }
    }

    pub(crate) fn begin(&self) {
        self.began.store(now(), Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }
}

/// The time of the processor that this process took, in milliseconds plus one.
fn now() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000 + 1
}
