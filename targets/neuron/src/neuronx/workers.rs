//! The number of compilers that run at once.

use halite_support::Caller;
use std::num::NonZeroU64;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory of the host that one compiler is given, in bytes.
///
/// Source: AWS Neuron SDK, `neuron_parallel_compile`: one worker for each 64 GiB of the host, rounded up.
pub const MEMORY_PER_JOB: NonZeroU64 = NonZeroU64::new(64 << 30).expect("it is not zero");

/// Memory of this machine in bytes; `None` where the system does not tell.
pub fn host_memory() -> Option<u64> {
    total(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// How many compilers fit a machine with so much memory: one for each share, rounded up; one where it is unknown.
pub fn default_jobs(memory: Option<u64>, per_job: NonZeroU64) -> usize {
    let jobs = memory.unwrap_or(0).div_ceil(per_job.get()).max(1);
    usize::try_from(jobs).unwrap_or(usize::MAX)
}

/// Applies `work` to every item on at most `jobs` threads, below the span of the caller; results are in the order of items.
pub(super) fn run<T: Sync, R: Send>(items: &[T], jobs: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let caller = Caller::current();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                caller.within(|| {
                    while let Some((item, result)) = {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        items.get(index).zip(results.get(index))
                    } {
                        let made = work(item);
                        *result.lock().expect("only this thread has the lock") = Some(made);
                    }
                });
            });
        }
    });
    let take = |result: Mutex<Option<R>>| result.into_inner().expect("a panic of a worker has ended the scope");
    results.into_iter().map(|result| take(result).expect("every item is taken by one worker")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_for_each_share_of_memory() {
        let jobs = |gib: u64| default_jobs(Some(gib << 30), MEMORY_PER_JOB);
        assert_eq!([4, 64, 65, 498, 2000].map(jobs), [1, 1, 2, 8, 32]);
        assert_eq!(default_jobs(None, MEMORY_PER_JOB), 1);
        assert_eq!(total("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(total("MemTotal: many"), None);
    }

    #[test]
    fn results_keep_their_order_and_jobs_their_bound() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items: Vec<usize> = (0..20).collect();
        let results = run(&items, 3, |item| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
            item * 2
        });
        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(most.into_inner() <= 3);
        assert_eq!(run(&[0; 0], 3, |item| *item), [0; 0]);
    }
}
