//! Work on several cores.

use halite_support::CancelToken;
use std::num::NonZero;
use std::panic::resume_unwind;

/// As many calls as run at once.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Calls `of` for each item, as many at once as there are cores, and returns the results in the order of the items.
pub(super) fn side_by_side<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (cancel, of) = (&CancelToken::current(), &of);
    let at_once = |items: &[T]| {
        std::thread::scope(|scope| {
            let workers: Vec<_> = items.iter().map(|item| scope.spawn(|| cancel.within(|| of(item)))).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, R>| {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            workers.into_iter().map(join).collect::<Vec<_>>()
        })
    };
    items.chunks(cores()).flat_map(at_once).collect()
}
