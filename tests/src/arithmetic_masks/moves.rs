//! Ways to move features along the sequence beside attention: concatenation and running sums.

use super::{Draft, HIDDEN};
use halite_ir::Value;
use halite_ir::ops::Reduction;
use halite_support::Result;

type Move = fn(&mut Draft<'_, '_>, Value) -> Result<Value>;

/// Each hands positions on to later ones, or nowhere.
const SOUND: &[(&str, Move)] = &[
    ("nothing", |_, x| Ok(x)),
    ("nothing", |_, x| Ok(x)),
    ("nothing", |_, x| Ok(x)),
    ("adds an earlier position", |draft, x| {
        let before = draft.later(x, 1)?;
        draft.b.add(x, before)
    }),
    ("cuts and joins", |draft, x| {
        let (first, second) = draft.cut(x)?;
        let second = draft.b.tanh(second)?;
        draft.b.concatenate(&[first, second], 1)
    }),
    ("adds the mean of what is before a cut", |draft, x| {
        let (first, second) = draft.cut(x)?;
        let second = draft.with_mean(second, first)?;
        draft.b.concatenate(&[first, second], 1)
    }),
    ("running sum", |draft, x| draft.running(x, Draft::later, Reduction::Sum)),
    ("running maximum", |draft, x| draft.running(x, Draft::later, Reduction::Max)),
    ("running minimum", |draft, x| draft.running(x, Draft::later, Reduction::Min)),
    ("turns, adds the next, turns back", |draft, x| {
        let turned = draft.b.reverse(x, &[1])?;
        let next = draft.earlier(turned, 1)?;
        let turned = draft.b.add(turned, next)?;
        draft.b.reverse(turned, &[1])
    }),
];

/// Each hands some position on to an earlier one.
const FAULTY: &[(&str, Move)] = &[
    ("adds a later position", |draft, x| {
        let after = draft.earlier(x, 1)?;
        draft.b.add(x, after)
    }),
    ("swaps parts", |draft, x| {
        let (first, second) = draft.cut(x)?;
        draft.b.concatenate(&[second, first], 1)
    }),
    ("adds the mean of everything behind a cut", |draft, x| {
        let (first, second) = draft.cut(x)?;
        let second = draft.with_mean(second, x)?;
        draft.b.concatenate(&[first, second], 1)
    }),
    ("adds the mean of what is behind a cut", |draft, x| {
        let (first, second) = draft.cut(x)?;
        let first = draft.with_mean(first, second)?;
        draft.b.concatenate(&[first, second], 1)
    }),
    ("running sum from the end", |draft, x| draft.running(x, Draft::earlier, Reduction::Sum)),
    ("running maximum from the end", |draft, x| draft.running(x, Draft::earlier, Reduction::Max)),
    ("turns, adds the one before, turns back", |draft, x| {
        let turned = draft.b.reverse(x, &[1])?;
        let next = draft.later(turned, 1)?;
        let turned = draft.b.add(turned, next)?;
        draft.b.reverse(turned, &[1])
    }),
];

impl Draft<'_, '_> {
    /// One move on `x[1, seq, hidden]`.
    pub(super) fn moved(&mut self, x: Value, faulty: bool) -> Result<Value> {
        let (name, step) = self.pick(if faulty { FAULTY } else { SOUND });
        self.tell(name);
        step(self, x)
    }

    /// Features `by` positions later, after zeros.
    fn later(&mut self, x: Value, by: usize) -> Result<Value> {
        let zeros = self.b.splat(self.float, [1, by, HIDDEN], 0.0)?;
        let kept = self.b.slice_dim(x, 1, 0, self.seq - by)?;
        self.b.concatenate(&[zeros, kept], 1)
    }

    /// Features `by` positions earlier, before zeros.
    fn earlier(&mut self, x: Value, by: usize) -> Result<Value> {
        let zeros = self.b.splat(self.float, [1, by, HIDDEN], 0.0)?;
        let kept = self.b.slice_dim(x, 1, by, self.seq)?;
        self.b.concatenate(&[kept, zeros], 1)
    }

    /// Each position combined with all on one side of it, in steps of 1, 2, 4 and so on.
    fn running(
        &mut self,
        x: Value,
        moved: fn(&mut Self, Value, usize) -> Result<Value>,
        kind: Reduction,
    ) -> Result<Value> {
        let (mut x, mut by) = (x, 1);
        while by < self.seq {
            let other = moved(self, x, by)?;
            x = match kind {
                Reduction::Max => self.b.maximum(x, other)?,
                Reduction::Min => self.b.minimum(x, other)?,
                _ => self.b.add(x, other)?,
            };
            by *= 2;
        }
        Ok(x)
    }

    fn cut(&mut self, x: Value) -> Result<(Value, Value)> {
        let at = 1 + self.random.below(self.seq - 1);
        Ok((self.b.slice_dim(x, 1, 0, at)?, self.b.slice_dim(x, 1, at, self.seq)?))
    }

    /// `x` with the mean over the positions of another added.
    fn with_mean(&mut self, x: Value, of: Value) -> Result<Value> {
        let count = self.b.shape(of)[1];
        let sum = self.b.reduce_sum(of, &[1])?;
        let mean = self.b.multiply_scalar(sum, 1.0 / count as f64)?;
        let mean = self.b.broadcast_missing(mean, x, &[1])?;
        self.b.add(x, mean)
    }
}
