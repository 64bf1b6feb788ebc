//! Waiting for work: what it tells, how it is ended, what becomes of a panic. Python cannot be made to panic from outside.

#[path = "../src/wait.rs"]
mod wait;

use std::convert::Infallible;
use std::thread::sleep;
use std::time::{Duration, Instant};
use wait::{Outcome, Step, TICK, wait};

#[test]
fn work_that_ends_at_once_is_not_waited_for() {
    let since = Instant::now();
    let outcome = wait(|_| Ok::<_, Infallible>(()), |_| 7);
    assert_eq!(outcome, Outcome::Done(7));
    assert!(since.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_panic_is_an_outcome() {
    let outcome = wait(|_| Ok::<_, Infallible>(()), |_| -> u32 { panic!("seven of {}", 8) });
    assert_eq!(outcome, Outcome::Panicked("seven of 8".to_owned()));
}

#[test]
fn a_tick_has_the_last_step_and_none_where_nothing_was_told() {
    let mut told = Vec::new();
    let tick = |step: Option<Step>| {
        told.push(step.map(|step| step.done));
        Ok::<_, Infallible>(())
    };
    let outcome = wait(tick, |work| {
        for done in 0..100 {
            work.step("a", done, None).unwrap();
        }
        sleep(20 * TICK);
    });
    assert_eq!(outcome, Outcome::Done(()));
    let steps: Vec<u64> = told.iter().copied().flatten().collect();
    assert!(told.len() > 3 && told.contains(&None), "{told:?}");
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
            sleep(Duration::from_millis(1));
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
    let outcome = wait(
        |_| Ok::<_, Infallible>(()),
        |work| {
            let since = Instant::now();
            let calls = (0..1000).map(|number| work.call(move || (number, std::thread::current().id())));
            let calls: Option<Vec<_>> = calls.collect();
            (calls, since.elapsed())
        },
    );
    let Outcome::Done((Some(calls), elapsed)) = outcome else { panic!("{outcome:?}") };
    assert!(calls.into_iter().eq((0..1000).map(|number| (number, here))));
    assert!(elapsed < 100 * TICK, "no call waits for a tick: {elapsed:?}");
}
