//! Many compiles in one process keep nothing. Alone in its process: memory that other tests take would count.

use halite::Session;
use halite::compile::CompileOptions;
use halite_tests::alone;
use halite_tests::compiled::expect;
use std::sync::Barrier;

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells what a process holds");
    let pages: usize = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * 4096
}

/// The number of compiles: 40, or as many as `HALITE_COMPILES` says.
fn compiles() -> usize {
    let variable = std::env::var("HALITE_COMPILES").ok();
    variable.map_or(40, |text| text.parse().expect("`HALITE_COMPILES` is a whole number"))
}

/// The least growth that is told from what the allocator keeps.
const NOISE: usize = 2 << 20;

/// Allocations that a thread and the process make once are there when memory is first measured; after that, a thousand compiles may
/// keep 10 MiB. Fewer are too few to see that: 40 show what keeps 50 KiB each, a tenth of a bundle.
#[test]
fn two_threads_and_many_compiles_give_the_same_bytes_in_the_same_memory() {
    let name = "same_memory::two_threads_and_many_compiles_give_the_same_bytes_in_the_same_memory";
    alone(
        name,
        |child| child,
        || {
            let (warm, measured) = (Barrier::new(3), Barrier::new(3));
            let work = || {
                let mut session = Session::new();
                let source = expect(session.load("tiny", &["layers=1".to_owned()]));
                let compile = || expect(session.compile(&source, &CompileOptions::default())).bundle;
                let first = compile();
                let same = |times: usize| (0..times).all(|_| compile() == first);
                let warmed = same(20);
                warm.wait();
                measured.wait();
                (warmed && same(compiles() / 2), first)
            };
            let (before, [a, b]) = std::thread::scope(|scope| {
                let workers = [(); 2].map(|()| scope.spawn(work));
                warm.wait();
                let before = resident_bytes();
                measured.wait();
                (before, workers.map(|worker| worker.join().expect("no panic")))
            });
            assert!(a.0 && b.0 && a.1 == b.1, "equal compiles give other bytes");
            let grown = resident_bytes().saturating_sub(before);
            let allowed = (compiles() * (10 << 20) / 1000).max(NOISE);
            assert!(grown < allowed, "{grown} bytes more, {allowed} are allowed");
        },
    );
}
