//! Ways to move features between positions beside attention.

use super::{Draft, Sizes};
use halite_ir::Value;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

type Mixer = fn(&mut Draft<'_, '_>, Value) -> Result<Value>;

/// Each hands positions on to later ones, or nowhere.
const SOUND: &[(&str, Mixer)] = &[
    ("nothing", |_, x| Ok(x)),
    ("nothing", |_, x| Ok(x)),
    ("nothing", |_, x| Ok(x)),
    ("adds the previous position", |draft, x| draft.previous(x)),
    ("reverses twice", |draft, x| draft.reversed_twice(x)),
    ("cuts and joins", |draft, x| draft.cut_and_joined(x)),
    ("averages the past", |draft, x| draft.averaged(x, false)),
    ("merges batch and positions", |draft, x| draft.merged(x)),
    ("counts features first", |draft, x| draft.turned(x)),
];

/// Each hands some position on to an earlier one.
const FAULTY: &[(&str, Mixer)] = &[
    ("adds the next position", |draft, x| draft.next(x)),
    ("adds the reverse", |draft, x| draft.with_reverse(x)),
    ("rotates", |draft, x| draft.rotated(x)),
    ("averages the future", |draft, x| draft.averaged(x, true)),
    ("subtracts the mean over positions", |draft, x| draft.centered(x)),
    ("divides by the largest over positions", |draft, x| draft.scaled(x)),
    ("adds the last position", |draft, x| draft.with_last(x)),
    ("mixes pairs of positions", |draft, x| draft.paired(x)),
    ("merges positions with features the wrong way round", |draft, x| draft.misread(x)),
];

impl Draft<'_, '_> {
    /// One mixer on `x[batch, seq, hidden]`.
    pub(super) fn mix(&mut self, x: Value, faulty: bool) -> Result<Value> {
        let (name, mixer) = self.pick(if faulty { FAULTY } else { SOUND });
        self.tell(name);
        mixer(self, x)
    }

    fn previous(&mut self, x: Value) -> Result<Value> {
        let seq = self.sizes.seq;
        let padded = self.b.pad_dim(x, 1, 1, 0, 0.0)?;
        let before = self.b.slice_dim(padded, 1, 0, seq)?;
        self.b.add(x, before)
    }

    fn next(&mut self, x: Value) -> Result<Value> {
        let after = self.ahead(x)?;
        self.b.add(x, after)
    }

    /// The features of the next position; zeros at the end.
    pub(super) fn ahead(&mut self, x: Value) -> Result<Value> {
        let seq = self.sizes.seq;
        let padded = self.b.pad_dim(x, 1, 0, 1, 0.0)?;
        self.b.slice_dim(padded, 1, 1, seq + 1)
    }

    fn reversed_twice(&mut self, x: Value) -> Result<Value> {
        let reverse = self.b.reverse(x, &[1])?;
        let changed = self.b.tanh(reverse)?;
        let back = self.b.reverse(changed, &[1])?;
        self.b.add(x, back)
    }

    fn with_reverse(&mut self, x: Value) -> Result<Value> {
        let reverse = self.b.reverse(x, &[1])?;
        self.b.add(x, reverse)
    }

    fn cut_and_joined(&mut self, x: Value) -> Result<Value> {
        let seq = self.sizes.seq;
        let at = 1 + self.random.below(seq - 1);
        let (first, second) = (self.b.slice_dim(x, 1, 0, at)?, self.b.slice_dim(x, 1, at, seq)?);
        let second = self.b.tanh(second)?;
        self.b.concatenate(&[first, second], 1)
    }

    fn rotated(&mut self, x: Value) -> Result<Value> {
        let seq = self.sizes.seq;
        let at = 1 + self.random.below(seq - 1);
        let (first, second) = (self.b.slice_dim(x, 1, 0, at)?, self.b.slice_dim(x, 1, at, seq)?);
        self.b.concatenate(&[second, first], 1)
    }

    /// Adds the mean over the positions up to each one, or from it on, by a product with a triangular matrix.
    fn averaged(&mut self, x: Value, future: bool) -> Result<Value> {
        let seq = self.sizes.seq;
        let weight = |row: usize, column: usize| match future {
            false if column <= row => 1.0 / (row + 1) as f64,
            true if column >= row => 1.0 / (seq - row) as f64,
            _ => 0.0,
        };
        let weights = (0..seq * seq).map(|index| weight(index / seq, index % seq));
        let matrix = self.b.constant(HostTensor::from_f64s(DType::F32, [seq, seq], weights))?;
        let means = self.b.dot_general(matrix, x, (&[], &[]), (&[1], &[1]))?;
        let means = self.b.transpose(means, &[1, 0, 2])?;
        self.b.add(x, means)
    }

    fn merged(&mut self, x: Value) -> Result<Value> {
        let Sizes { batch, seq, .. } = self.sizes;
        let hidden = self.sizes.hidden();
        let rows = self.b.reshape(x, [batch * seq, hidden])?;
        let rows = self.b.tanh(rows)?;
        let back = self.b.reshape(rows, [batch, seq, hidden])?;
        self.b.add(x, back)
    }

    fn turned(&mut self, x: Value) -> Result<Value> {
        let turned = self.b.transpose(x, &[2, 0, 1])?;
        let changed = self.b.logistic(turned)?;
        let back = self.b.transpose(changed, &[1, 2, 0])?;
        self.b.multiply(x, back)
    }

    fn centered(&mut self, x: Value) -> Result<Value> {
        let sum = self.b.reduce_sum(x, &[1])?;
        let mean = self.b.multiply_scalar(sum, 1.0 / self.sizes.seq as f64)?;
        let mean = self.b.broadcast_missing(mean, x, &[1])?;
        self.b.subtract(x, mean)
    }

    fn scaled(&mut self, x: Value) -> Result<Value> {
        let sizes = self.b.abs(x)?;
        let largest = self.b.reduce_max(sizes, &[1])?;
        let largest = self.b.add_scalar(largest, 0.5)?;
        let largest = self.b.broadcast_missing(largest, x, &[1])?;
        self.b.divide(x, largest)
    }

    fn with_last(&mut self, x: Value) -> Result<Value> {
        let Sizes { batch, seq, .. } = self.sizes;
        let hidden = self.sizes.hidden();
        let last = self.b.slice_dim(x, 1, seq - 1, seq)?;
        let last = self.b.reshape(last, [batch, hidden])?;
        let last = self.b.broadcast_missing(last, x, &[1])?;
        self.b.add(x, last)
    }

    /// Subtracts the mean of the positions 0 and 1, 2 and 3 and so on; a last one without a partner stays.
    fn paired(&mut self, x: Value) -> Result<Value> {
        let Sizes { batch, seq, .. } = self.sizes;
        let (pairs, hidden) = (seq / 2, self.sizes.hidden());
        let even = self.b.slice_dim(x, 1, 0, 2 * pairs)?;
        let split = self.b.reshape(even, [batch, pairs, 2, hidden])?;
        let sum = self.b.reduce_sum(split, &[2])?;
        let mean = self.b.multiply_scalar(sum, 0.5)?;
        let mean = self.b.broadcast_missing(mean, split, &[2])?;
        let rest = self.b.subtract(split, mean)?;
        let rest = self.b.reshape(rest, [batch, 2 * pairs, hidden])?;
        let last = self.b.slice_dim(x, 1, 2 * pairs, seq)?;
        self.b.concatenate(&[rest, last], 1)
    }

    /// Reads `[seq, hidden]` as if it were `[hidden, seq]`.
    fn misread(&mut self, x: Value) -> Result<Value> {
        let Sizes { batch, seq, .. } = self.sizes;
        let hidden = self.sizes.hidden();
        let other = self.b.reshape(x, [batch, hidden, seq])?;
        let other = self.b.transpose(other, &[0, 2, 1])?;
        self.b.add(x, other)
    }
}
