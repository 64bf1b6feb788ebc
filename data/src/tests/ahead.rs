//! Reading ahead.

use super::corpus::{Draw, random};
use crate::ahead::Ahead;
use crate::dataset::{Dataset, Position, Rows};
use halite_support::{Diagnostic, Result, codes};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn it_gives_what_would_be_given_without_it() {
    for seed in 0..60 {
        let (corpus, case) = random(seed);
        let mut draw = Draw::new(seed);
        let mut plain = corpus.open(&case);
        let mut ahead = Ahead::new(Box::new(corpus.open(&case)), 1 + draw.below(4), 1 + draw.below(3));
        let mut positions = vec![plain.position()];
        for _ in 0..12 {
            // Mostly the same number, so that batches wait.
            let rows = if draw.below(4) == 0 { draw.below(5) } else { 3 };
            assert_eq!(ahead.next(rows).unwrap(), plain.next(rows).unwrap(), "seed {seed}");
            assert_eq!(ahead.position(), plain.position(), "seed {seed}");
            positions.push(plain.position());
            if draw.below(5) == 0 {
                let back = &positions[draw.below(positions.len())];
                plain.seek(back).unwrap();
                ahead.seek(back).unwrap();
            }
        }
    }
}

/// Counts its calls, and fails or panics at one of them.
struct Odd {
    calls: Arc<AtomicUsize>,
    given: usize,
    at: usize,
    panics: bool,
}

impl Dataset for Odd {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.given == self.at {
            assert!(!self.panics, "the reader fell");
            return Err(Diagnostic::error(codes::DATA, "the data is bad"));
        }
        self.given += 1;
        let values = || vec![self.given as i32; rows];
        Ok(Rows { rows, width: 1, tokens: values(), segments: values(), positions: values(), ..Rows::default() })
    }

    fn position(&self) -> Position {
        Position(self.given.into())
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        self.given = position.0.as_u64().unwrap() as usize;
        Ok(())
    }

    fn epochs(&self) -> u64 {
        0
    }

    fn identity(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn vocabulary(&self) -> u64 {
        0
    }
}

fn odd(at: usize, panics: bool) -> (Odd, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    (Odd { calls: calls.clone(), given: 0, at, panics }, calls)
}

#[test]
fn errors_and_panics_arrive_in_their_turn() {
    for (panics, message) in [(false, "the data is bad"), (true, "reading data panicked: the reader fell")] {
        let mut ahead = Ahead::new(Box::new(odd(3, panics).0), 2, 8);
        for batch in 1..=3 {
            assert_eq!(ahead.next(2).unwrap().tokens, [batch; 2]);
        }
        for _ in 0..2 {
            let error = ahead.next(2).unwrap_err();
            assert_eq!(error.message(), message);
            assert_eq!(ahead.position(), Position(3.into()));
        }
        let sought = ahead.seek(&Position(0.into()));
        assert_eq!(sought.is_err(), panics, "what a panic left is not used");
        assert_eq!(ahead.next(2).is_err(), panics);
    }
}

#[test]
fn no_more_is_made_than_was_asked_for_and_the_thread_ends() {
    for most in 1..4 {
        let (dataset, calls) = odd(usize::MAX, false);
        let mut ahead = Ahead::new(Box::new(dataset), 1, most);
        assert_eq!(calls.load(Ordering::SeqCst), 0, "nothing is read before it is asked for");
        for _ in 0..10 {
            ahead.next(1).unwrap();
        }
        drop(ahead);
        let made = calls.load(Ordering::SeqCst);
        assert!((10..=10 + most).contains(&made), "{made} batches were made, at most {most} ahead of 10");
        assert_eq!(Arc::strong_count(&calls), 1, "the thread and its data are gone");
    }
}
