//! Text as batches of byte tokens.

use halite_bundle::{Stream, sha256};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};

/// A training text and the part of it that is held out for evaluation. Tokens are bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Corpus {
    train: Vec<u8>,
    held_out: Vec<u8>,
}

/// The form of a batch: `s32[rows, width]`, each row a window of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchShape {
    /// Sequences.
    pub(super) rows: usize,
    /// Tokens of one sequence, the last label included.
    pub(super) width: usize,
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
        Ok(Self { train, held_out })
    }

    /// Bytes to train on and bytes held out.
    pub fn sizes(&self) -> (usize, usize) {
        (self.train.len(), self.held_out.len())
    }

    /// What tells a corpus from others, for people to compare: the whole text, and the part of it that is held out.
    pub(super) fn fingerprint(&self) -> (String, String) {
        let (train, held_out) = self.sizes();
        let sum = sha256(&[&self.train[..], &self.held_out].concat());
        (format!("{} bytes with SHA-256 {sum}", train + held_out), format!("{held_out} bytes"))
    }

    /// Whether both parts hold at least one window, the held-out one only if it is not empty.
    pub(super) fn check(&self, shape: BatchShape) -> Result<()> {
        let short = |bytes: usize, what: &str| {
            let message = format!("the {what} text has {bytes} bytes, one sequence takes {}", shape.width);
            Diagnostic::error(codes::TEXT, message).help("give more text or make `seq` smaller")
        };
        let (train, held_out) = self.sizes();
        if train < shape.width {
            return Err(short(train, "training"));
        }
        if held_out > 0 && held_out < shape.width {
            return Err(short(held_out, "held-out").note("with `--held-out 0` nothing is held out"));
        }
        Ok(())
    }

    /// The batch of a step, counted from 0: windows at places drawn from the seed and the step.
    pub(super) fn batch(&self, shape: BatchShape, seed: u64, step: u64) -> HostTensor {
        let stream = Stream::new(seed, "batch");
        let places = self.train.len() - shape.width + 1;
        let first = step * shape.rows as u64;
        windows(&self.train, shape, |row| stream.below(first + row as u64, places as u64) as usize)
    }

    /// How many batches cover the held-out text about once; at most `most`, and 0 when nothing is held out.
    pub(super) fn held_out_batches(&self, shape: BatchShape, most: usize) -> usize {
        (self.held_out.len() / (shape.rows * shape.width.max(1))).max(usize::from(!self.held_out.is_empty())).min(most)
    }

    /// Batch number `index` of `count` that spread evenly over the held-out text.
    pub(super) fn held_out_batch(&self, shape: BatchShape, index: usize, count: usize) -> HostTensor {
        let places = self.held_out.len() - shape.width + 1;
        let windows_in_all = count * shape.rows;
        windows(&self.held_out, shape, |row| (index * shape.rows + row) * places / windows_in_all)
    }
}

fn windows(text: &[u8], shape: BatchShape, place: impl Fn(usize) -> usize) -> HostTensor {
    let row = |row| {
        let start = place(row);
        text[start..start + shape.width].iter().map(|byte| i128::from(*byte))
    };
    HostTensor::from_ints(DType::S32, [shape.rows, shape.width], (0..shape.rows).flat_map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: BatchShape = BatchShape { rows: 3, width: 5 };

    fn corpus() -> Corpus {
        Corpus::new(&[(0..60).collect(), (60..100).collect()], 0.1).unwrap()
    }

    #[test]
    fn the_last_part_is_held_out() {
        assert_eq!(corpus().sizes(), (90, 10));
        assert_eq!(corpus().held_out, (90..100).collect::<Vec<u8>>());
        assert!(Corpus::new(&[vec![1]], 1.0).is_err());
        assert!(Corpus::new(&[], 0.1).is_err());
    }

    #[test]
    fn batches_depend_on_seed_and_step_only() {
        let batch = |seed, step| corpus().batch(SHAPE, seed, step);
        assert_eq!(batch(1, 7), batch(1, 7));
        assert_ne!(batch(1, 7), batch(1, 8));
        assert_ne!(batch(1, 7), batch(2, 7));
        let starts: std::collections::BTreeSet<_> =
            (0..1000).flat_map(|step| batch(0, step).ints().chunks(5).map(|row| row[0]).collect::<Vec<_>>()).collect();
        assert_eq!(starts, (0..86).collect(), "every window of the training text is used and no other");
        assert!(batch(0, 0).ints().chunks(5).all(|row| row.windows(2).all(|pair| pair[1] == pair[0] + 1)));
    }

    #[test]
    fn held_out_batches_cover_the_text() {
        assert_eq!(corpus().held_out_batches(SHAPE, 8), 1);
        let batch = corpus().held_out_batch(SHAPE, 0, 1);
        assert_eq!(batch.ints().chunks(5).map(|row| row[0]).collect::<Vec<_>>(), [90, 92, 94]);
        assert_eq!(Corpus::new(&[vec![0; 50]], 0.0).unwrap().held_out_batches(SHAPE, 8), 0);
    }

    #[test]
    fn short_texts_are_refused() {
        let wide = BatchShape { rows: 1, width: 11 };
        assert!(corpus().check(wide).unwrap_err().message().starts_with("the held-out text has 10 bytes"));
        let wide = BatchShape { rows: 1, width: 91 };
        assert!(corpus().check(wide).unwrap_err().message().starts_with("the training text has 90 bytes"));
    }
}
