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

#[cfg(test)]
mod tests {
    use super::*;
    use halite_support::check_cancelled;

    #[test]
    fn results_are_in_the_order_of_items() {
        let items: Vec<usize> = (0..3 * cores() + 1).collect();
        assert_eq!(side_by_side(&items, |item| 2 * item), items.iter().map(|item| 2 * item).collect::<Vec<_>>());
        assert_eq!(side_by_side(&[], |item: &usize| *item), [0; 0]);
    }

    #[test]
    fn calls_are_part_of_the_work_that_is_cancelled() {
        let token = CancelToken::default();
        token.cancel();
        let seen = token.within(|| side_by_side(&[(), ()], |()| check_cancelled().is_err()));
        assert_eq!(seen, [true, true]);
    }
}
