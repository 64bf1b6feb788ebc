//! Many compiles in one process keep nothing. Alone in its process: memory that other tests take would count.

use halite::Session;
use halite::compile::CompileOptions;
use halite_tests::alone;
use halite_tests::compiled::expect;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::sync::Barrier;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The bytes that are allocated now: counted, so that neither pages nor arenas of an allocator show.
fn allocated_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

/// The number of compiles: 40, or as many as `HALITE_COMPILES` says.
fn compiles() -> usize {
    let variable = std::env::var("HALITE_COMPILES").ok();
    variable.map_or(40, |text| text.parse().expect("`HALITE_COMPILES` is a whole number"))
}

/// Bytes that all compiles together may keep: a hundred of each of 40. They keep none.
const KEPT: usize = 4 << 10;

/// Allocations that a thread and the process make once are there when memory is first measured.
#[test]
fn two_threads_and_many_compiles_give_the_same_bytes_in_the_same_memory() {
    let name = "same_memory::two_threads_and_many_compiles_give_the_same_bytes_in_the_same_memory";
    alone(
        name,
        |child| child,
        || {
            let [warm, measured, compiled, counted] = [(); 4].map(|()| Barrier::new(3));
            let work = || {
                let mut session = Session::new();
                let source = expect(session.load("tiny", &["layers=1".to_owned()]));
                let compile = || expect(session.compile(&source, &CompileOptions::default())).bundle;
                let first = compile();
                let same = |times: usize| (0..times).all(|_| compile() == first);
                let warmed = same(2);
                warm.wait();
                measured.wait();
                let later = same(compiles() / 2);
                compiled.wait();
                counted.wait();
                (warmed && later, first)
            };
            let (grown, [a, b]) = std::thread::scope(|scope| {
                let workers = [(); 2].map(|()| scope.spawn(work));
                warm.wait();
                let before = allocated_bytes();
                measured.wait();
                compiled.wait();
                let grown = allocated_bytes().saturating_sub(before);
                counted.wait();
                (grown, workers.map(|worker| worker.join().expect("no panic")))
            });
            assert!(a.0 && b.0 && a.1 == b.1, "equal compiles give other bytes");
            assert!(grown < KEPT, "{grown} bytes more after {} compiles, {KEPT} are allowed", compiles());
        },
    );
}
