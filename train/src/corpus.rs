//! Text in memory as byte tokens.

use halite_bundle::{Stream, sha256};
use halite_data::{Data, Dataset, HeldOut, Opened, Position, Rows};
use halite_support::{Diagnostic, Result, codes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A training text and the part of it that is held out for evaluation. Tokens are bytes; a sequence is a window of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Corpus {
    train: Arc<[u8]>,
    held_out: Arc<[u8]>,
}

impl Corpus {
    /// A corpus from texts that follow each other; the last `held_out`, a share from 0 up to but not 1, is held out.
    ///
    /// # Errors
    /// When the share is outside its range or there is no text.
    pub fn new(texts: &[Vec<u8>], held_out: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&held_out) {
            let message = format!("the held-out share is {held_out}, expected a number at least 0 and less than 1");
            return Err(Diagnostic::error(codes::USAGE, message).help("write for example `--held-out 0.1`"));
        }
        let mut train = texts.concat();
        if train.is_empty() {
            return Err(Diagnostic::error(codes::TEXT, "the training text is empty").help("give files with text"));
        }
        let kept = train.len() - (train.len() as f64 * held_out).round() as usize;
        let held_out = train.split_off(kept);
        Ok(Self { train: train.into(), held_out: held_out.into() })
    }

    /// Bytes to train on and bytes held out.
    pub fn sizes(&self) -> (usize, usize) {
        (self.train.len(), self.held_out.len())
    }

    /// Whether both parts hold at least one window, the held-out one only if it is not empty.
    fn check(&self, width: usize) -> Result<()> {
        let short = |bytes: usize, what: &str| {
            let message = format!("the {what} text has {bytes} bytes, one sequence takes {width}");
            Diagnostic::error(codes::TEXT, message).help("give more text or make `seq` smaller")
        };
        let (train, held_out) = self.sizes();
        if train < width {
            return Err(short(train, "training"));
        }
        if held_out > 0 && held_out < width {
            return Err(short(held_out, "held-out").note("with `--held-out 0` nothing is held out"));
        }
        Ok(())
    }
}

impl Data for Corpus {
    /// Windows at places that are drawn from the seed; of what is held out, one after another.
    fn open(&self, width: usize, seed: u64) -> Result<Opened> {
        self.check(width)?;
        let train =
            Windows { text: self.train.clone(), width, places: Places::Drawn(Stream::new(seed, "batch")), given: 0 };
        let held_out = Windows { text: self.held_out.clone(), places: Places::InOrder, ..train.clone() };
        let held_out = HeldOut { name: String::new(), data: Box::new(held_out) };
        let held_out = if self.held_out.is_empty() { Vec::new() } else { vec![held_out] };
        Ok(Opened { train: Box::new(train), held_out })
    }
}

/// Where windows begin.
#[derive(Clone, Debug)]
enum Places {
    /// Anywhere, with replacement.
    Drawn(Stream),
    /// Each after the one before.
    InOrder,
}

/// Windows of a text.
#[derive(Clone, Debug)]
struct Windows {
    text: Arc<[u8]>,
    width: usize,
    places: Places,
    /// Windows so far.
    given: u64,
}

impl Windows {
    fn in_epoch(&self) -> u64 {
        (self.text.len() / self.width) as u64
    }

    fn start(&self, number: u64) -> usize {
        match self.places {
            Places::Drawn(stream) => stream.below(number, (self.text.len() - self.width + 1) as u64) as usize,
            Places::InOrder => (number % self.in_epoch()) as usize * self.width,
        }
    }
}

impl Dataset for Windows {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        let width = self.width;
        let mut all = Rows { rows, width, ..Rows::default() };
        for number in self.given..self.given + rows as u64 {
            let start = self.start(number);
            all.tokens.extend(self.text[start..start + width].iter().map(|byte| i32::from(*byte)));
            all.segments.extend(std::iter::repeat_n(1, width));
            all.positions.extend((0..).take(width));
        }
        self.given += rows as u64;
        Ok(all)
    }

    fn position(&self) -> Position {
        Position(self.given.into())
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        let given = position.0.as_u64();
        self.given = given.ok_or_else(|| {
            let message = format!("`{}` is no position in a text", position.0);
            Diagnostic::error(codes::TEXT, message).help("resume from another state")
        })?;
        Ok(())
    }

    fn epochs(&self) -> u64 {
        self.given / self.in_epoch()
    }

    fn identity(&self) -> BTreeMap<String, String> {
        let text = format!("{} bytes with SHA-256 {}", self.text.len(), sha256(&self.text));
        BTreeMap::from([("text".to_owned(), text)])
    }

    fn vocabulary(&self) -> u64 {
        256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus() -> Corpus {
        Corpus::new(&[(0..60).collect(), (60..100).collect()], 0.1).unwrap()
    }

    fn train(seed: u64) -> Box<dyn Dataset> {
        corpus().open(5, seed).unwrap().train
    }

    #[test]
    fn the_last_part_is_held_out() {
        assert_eq!(corpus().sizes(), (90, 10));
        assert_eq!(corpus().held_out[..], (90..100).collect::<Vec<u8>>());
        assert!(Corpus::new(&[vec![1]], 1.0).is_err());
        assert!(Corpus::new(&[], 0.1).is_err());
    }

    #[test]
    fn windows_follow_from_seed_and_position_only() {
        let batch = |seed, position: u64| {
            let mut train = train(seed);
            train.seek(&Position(position.into())).unwrap();
            train.next(3).unwrap()
        };
        assert_eq!(batch(1, 7), batch(1, 7));
        assert_ne!(batch(1, 7), batch(1, 8));
        assert_ne!(batch(1, 7), batch(2, 7));
        let rows = train(0).next(3000).unwrap();
        let starts: std::collections::BTreeSet<_> = rows.tokens.chunks(5).map(|row| row[0]).collect();
        assert_eq!(starts, (0..86).collect(), "every window of the training text is used and no other");
        assert!(rows.tokens.chunks(5).all(|row| row.windows(2).all(|pair| pair[1] == pair[0] + 1)));
        assert!(train(0).seek(&Position("x".into())).is_err());
    }

    #[test]
    fn what_is_held_out_is_given_in_order() {
        let mut held_out = corpus().open(5, 0).unwrap().held_out.remove(0).data;
        let rows = held_out.next(3).unwrap();
        assert_eq!(rows.tokens.chunks(5).map(|row| row[0]).collect::<Vec<_>>(), [90, 95, 90]);
        assert_eq!(held_out.epochs(), 1);
        assert!(Corpus::new(&[vec![0; 50]], 0.0).unwrap().open(5, 0).unwrap().held_out.is_empty());
    }

    #[test]
    fn short_texts_are_refused() {
        let message = |width| corpus().open(width, 0).err().unwrap().message().to_owned();
        assert!(message(11).starts_with("the held-out text has 10 bytes"));
        assert!(message(91).starts_with("the training text has 90 bytes"));
    }
}
