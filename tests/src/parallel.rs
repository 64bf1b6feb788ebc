//! Cases of a test, spread over the cores.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `of` for each case, and returns the results in the order of the cases. As many calls run at once as there are cores, so that
/// no core is idle while a test with many cases is the last one that runs.
///
/// # Panics
/// When `of` does.
pub fn for_each<T: Sync, R: Send>(cases: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else { return own };
            own.push((at, of(case)));
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
