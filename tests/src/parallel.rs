//! Cases of a test, spread over the cores.

#![allow(clippy::print_stdout, reason = "how far a long run is, is part of the output of a test")]

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many cases take a while.
const MANY: usize = 200;

/// How often it is told how many of them are done.
const STEPS: usize = 20;

/// Calls `of` for each case, and returns the results in the order of the cases. As many calls run at once as there are cores, so that
/// no core is idle while a test with many cases is the last one that runs. Of many cases it tells now and then how many are done.
///
/// # Panics
/// When `of` does.
pub fn for_each<T: Sync, R: Send>(cases: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else { return own };
            own.push((at, of(case)));
            let (done, all) = (done.fetch_add(1, Ordering::Relaxed) + 1, cases.len());
            if all >= MANY && done.is_multiple_of(all / STEPS) {
                println!("{done} of {all} cases");
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
