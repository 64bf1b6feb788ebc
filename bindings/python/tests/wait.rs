//! Waiting for work: what it tells, how it is ended, what becomes of a panic. Python cannot be made to panic from outside.

#[path = "../src/wait.rs"]
mod wait;

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use wait::{Outcome, Step, wait};

/// Calls that are done in fewer ticks than there are of them.
const CALLS: usize = 100;

#[test]
fn work_that_ends_at_once_is_not_waited_for() {
    let ends_before_a_tick = || {
        let mut ticks = 0;
        let tick = |_| {
            ticks += 1;
            Ok::<_, Infallible>(())
        };
        assert_eq!(wait(tick, |_| 7), Outcome::Done(7));
        ticks == 0
    };
    assert!((0..100).any(|_| ends_before_a_tick()));
}

#[test]
fn a_panic_is_an_outcome() {
    let outcome = wait(|_| Ok::<_, Infallible>(()), |_| -> u32 { panic!("seven of {}", 8) });
    assert_eq!(outcome, Outcome::Panicked("seven of 8".to_owned()));
}

#[test]
fn a_tick_has_the_last_step_and_none_where_nothing_was_told() {
    let (all_told, hears_of_all) = channel();
    let (ticked, hears_of_ticks) = channel();
    let mut told = Vec::new();
    let tick = |step: Option<Step>| {
        // So that the next one comes when there is much to hear of.
        if told.is_empty() {
            hears_of_all.recv().unwrap();
        }
        told.push(step.map(|step| step.done));
        _ = ticked.send(told.last().copied().flatten());
        Ok::<_, Infallible>(())
    };
    let outcome = wait(tick, move |work| {
        for done in 0..100 {
            work.step("a", done, None).unwrap();
        }
        all_told.send(()).unwrap();
        // Until there was a tick without a step after that of the last.
        while hears_of_ticks.recv().unwrap() != Some(99) {}
        assert_eq!(hears_of_ticks.recv().unwrap(), None);
    });
    assert_eq!(outcome, Outcome::Done(()));
    let steps: Vec<u64> = told.iter().copied().flatten().collect();
    assert!(steps.last() == Some(&99) && steps.is_sorted() && steps.len() < 100, "{steps:?}");
}

#[test]
fn what_a_tick_fails_with_ends_the_work() {
    let mut ticks = 0;
    let tick = |_| {
        ticks += 1;
        Err("stop")
    };
    let outcome = wait(tick, |work| {
        // It would go on for ever.
        while work.step("a", 0, None).is_ok() {
            std::thread::yield_now();
        }
    });
    assert_eq!(outcome, Outcome::Interrupted("stop"));
    assert_eq!(ticks, 1, "nobody is asked again");
}

#[test]
fn who_interrupts_hears_of_no_panic() {
    let outcome = wait(
        |_| Err::<(), _>("stop"),
        |work| -> u32 {
            while work.step("a", 0, None).is_ok() {}
            panic!("late")
        },
    );
    assert_eq!(outcome, Outcome::Interrupted("stop"));
}

#[test]
fn what_work_calls_is_done_by_the_waiting_thread() {
    let here = std::thread::current().id();
    let ticks = AtomicUsize::new(0);
    let tick = |_| {
        ticks.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(())
    };
    let outcome = wait(tick, |work| {
        let round = |_| {
            let before = ticks.load(Ordering::Relaxed);
            let calls = (0..CALLS).map(|number| work.call(move || (number, std::thread::current().id())));
            let calls: Option<Vec<_>> = calls.collect();
            (calls, ticks.load(Ordering::Relaxed) - before)
        };
        (0..10).map(round).unzip::<_, _, Vec<_>, Vec<_>>()
    });
    let Outcome::Done((calls, ticks)) = outcome else { panic!("{outcome:?}") };
    let expected: Vec<_> = (0..CALLS).map(|number| (number, here)).collect();
    assert!(calls.into_iter().all(|calls| calls.is_some_and(|calls| calls == expected)));
    assert!(ticks.iter().any(|ticks| *ticks < CALLS / 2), "each call waits for a tick: {ticks:?}");
}
