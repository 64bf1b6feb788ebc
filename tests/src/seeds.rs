//! Work on many seeds at once.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};

/// What comes of each seed below `count`, in their order, by as many threads as there are processors.
///
/// # Panics
/// When one of the threads does, with its message.
pub fn for_each_seed<T: Send>(count: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let worker = || {
        let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|seed| *seed < count);
        seeds.map(|seed| (seed, work(seed))).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(u64, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}
