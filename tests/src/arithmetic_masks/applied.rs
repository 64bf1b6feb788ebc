//! Ways to make weights from scores and masks.

use super::Draft;
use super::weights::KeyOffsets;
use halite_ir::Value;
use halite_ir::ops::Direction;
use halite_support::Result;

type Applied = fn(&mut Draft<'_, '_>, Value, Value) -> Result<Value>;

/// From scores and a mask, both `[1, seq, keys]`, weights that are 0 where the mask is.
const SOUND: &[(&str, Applied)] = &[
    ("scores times mask", |draft, scores, mask| draft.b.multiply(scores, mask)),
    ("exp(scores) times mask over its sum", |draft, scores, mask| {
        let weights = draft.b.exponential(scores)?;
        let weights = draft.b.multiply(weights, mask)?;
        draft.over_sum(weights)
    }),
    ("softmax(scores + (seen - 1) * 1e9)", |draft, scores, mask| {
        let seen = draft.at_most(mask, 1.0)?;
        let hidden = draft.b.add_scalar(seen, -1.0)?;
        let bias = draft.b.multiply_scalar(hidden, 1e9)?;
        let masked = draft.b.add(scores, bias)?;
        draft.softmax(masked)
    }),
    ("softmax(scores - hidden * 1e9)", |draft, scores, mask| {
        let bias = draft.hidden(mask, 1e9)?;
        let masked = draft.b.subtract(scores, bias)?;
        draft.softmax(masked)
    }),
    ("max(scores - hidden * 1e9, 0)", |draft, scores, mask| {
        let bias = draft.hidden(mask, 1e9)?;
        let masked = draft.b.subtract(scores, bias)?;
        draft.at_least(masked, 0.0)
    }),
    ("softmax(where(mask > 0, scores, -inf))", |draft, scores, mask| {
        let masked = draft.chosen(scores, mask, f64::NEG_INFINITY)?;
        draft.softmax(masked)
    }),
    ("softmax(where(mask > 0, scores, -1e9))", |draft, scores, mask| {
        let masked = draft.chosen(scores, mask, -1e9)?;
        draft.softmax(masked)
    }),
    ("where(mask > 0, scores, 0)", |draft, scores, mask| draft.chosen(scores, mask, 0.0)),
    ("softmax(min(scores, bias))", |draft, scores, mask| {
        let seen = draft.at_most(mask, 1.0)?;
        let bias = draft.b.multiply_scalar(seen, 2e9)?;
        let bias = draft.b.add_scalar(bias, -1e9)?;
        let masked = draft.b.minimum(scores, bias)?;
        draft.softmax(masked)
    }),
    ("max(scores, 0) squared times mask", |draft, scores, mask| {
        let positive = draft.at_least(scores, 0.0)?;
        let squares = draft.b.multiply(positive, positive)?;
        draft.b.multiply(squares, mask)
    }),
    ("mask over its sum", |draft, _, mask| draft.over_sum(mask)),
    ("floor(scores) times mask", |draft, scores, mask| {
        let whole = draft.b.floor(scores)?;
        draft.b.multiply(whole, mask)
    }),
    ("softmax(scores * mask) * mask", |draft, scores, mask| {
        let masked = draft.b.multiply(scores, mask)?;
        let weights = draft.softmax(masked)?;
        draft.b.multiply(weights, mask)
    }),
    ("softmax(scores + log(mask))", |draft, scores, mask| {
        let bias = draft.b.log(mask)?;
        let masked = draft.b.add(scores, bias)?;
        draft.softmax(masked)
    }),
    ("|scores| times mask", |draft, scores, mask| {
        let size = draft.b.abs(scores)?;
        draft.b.multiply(size, mask)
    }),
];

/// The same with weights beyond the mask.
const FAULTY: &[(&str, Applied)] = &[
    ("softmax(scores) times mask", |draft, scores, mask| {
        let weights = draft.softmax(scores)?;
        draft.b.multiply(weights, mask)
    }),
    ("softmax(scores - hidden * 3)", |draft, scores, mask| {
        let bias = draft.hidden(mask, 3.0)?;
        let masked = draft.b.subtract(scores, bias)?;
        draft.softmax(masked)
    }),
    ("max(scores - hidden * 0.1, 0)", |draft, scores, mask| {
        let bias = draft.hidden(mask, 0.1)?;
        let masked = draft.b.subtract(scores, bias)?;
        draft.at_least(masked, 0.0)
    }),
    ("softmax(scores * mask)", |draft, scores, mask| {
        let masked = draft.b.multiply(scores, mask)?;
        draft.softmax(masked)
    }),
    ("max(scores * mask, 0.1)", |draft, scores, mask| {
        let masked = draft.b.multiply(scores, mask)?;
        draft.at_least(masked, 0.1)
    }),
    ("scores times (mask + 0.1)", |draft, scores, mask| {
        let raised = draft.b.add_scalar(mask, 0.1)?;
        draft.b.multiply(scores, raised)
    }),
    ("scores times mask from the other side", |draft, scores, mask| {
        let hidden = draft.hidden(mask, 1.0)?;
        draft.b.multiply(scores, hidden)
    }),
];

impl Draft<'_, '_> {
    /// Weights `[1, seq, keys]` of the keys.
    pub(super) fn weighted(&mut self, scores: Value, offsets: KeyOffsets, faulty: bool) -> Result<Value> {
        let shape = self.b.shape(scores).clone();
        if !faulty && self.random.below(8) == 0 {
            self.tell("softmax(scores - 1e9 * ahead)");
            let ahead = self.ahead(offsets)?;
            let ahead = if self.random.coin() { self.b.multiply(ahead, ahead)? } else { ahead };
            let bias = self.b.multiply_scalar(ahead, 1e9)?;
            let bias = self.b.broadcast_in_dim(bias, &[1, 2], shape)?;
            let masked = self.b.subtract(scores, bias)?;
            return self.softmax(masked);
        }
        let (name, applied) = self.pick(if faulty { FAULTY } else { SOUND });
        self.tell(name);
        let mask = self.mask(offsets)?;
        let mask = self.b.broadcast_in_dim(mask, &[1, 2], shape)?;
        applied(self, scores, mask)
    }

    /// `fill` where a mask is 0, and 0 where it is 1 or more.
    fn hidden(&mut self, mask: Value, fill: f64) -> Result<Value> {
        let seen = self.at_most(mask, 1.0)?;
        let hidden = self.b.subtract_from(1.0, seen)?;
        self.b.multiply_scalar(hidden, fill)
    }

    fn chosen(&mut self, scores: Value, mask: Value, fill: f64) -> Result<Value> {
        let zero = self.b.splat_like(mask, 0.0)?;
        let seen = self.b.compare(mask, zero, Direction::Gt)?;
        let fill = self.b.splat_like(scores, fill)?;
        self.b.select(seen, scores, fill)
    }

    fn over_sum(&mut self, weights: Value) -> Result<Value> {
        let sum = self.b.reduce_sum(weights, &[2])?;
        let sum = self.b.add_scalar(sum, 1e-6)?;
        let sum = self.b.broadcast_missing(sum, weights, &[2])?;
        self.b.divide(weights, sum)
    }

    fn softmax(&mut self, scores: Value) -> Result<Value> {
        if self.random.coin() {
            return Ok(self.b.composite("softmax", &[("dim", halite_ir::Attr::Int(2))], &[scores])?[0]);
        }
        let most = self.b.reduce_max(scores, &[2])?;
        let most = self.b.broadcast_missing(most, scores, &[2])?;
        let shifted = self.b.subtract(scores, most)?;
        let weights = self.b.exponential(shifted)?;
        let sum = self.b.reduce_sum(weights, &[2])?;
        let sum = self.b.broadcast_missing(sum, weights, &[2])?;
        self.b.divide(weights, sum)
    }
}
