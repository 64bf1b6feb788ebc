//! Attention in many spellings.

use super::{Draft, Sizes};
use halite_ir::{Attr, Real, Value};
use halite_support::Result;
use halite_tensor::DType;

/// A fault of attention beside its mask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wiring {
    /// Nothing.
    Sound,
    /// Keys and values are those of the next position.
    KeysAhead,
    /// Probabilities sum to one over queries.
    OverQueries,
    /// The mask is applied to probabilities that saw everything.
    MaskedLate,
    /// Values are in reverse.
    ValuesReversed,
    /// The largest score of each row is found before the mask is applied.
    MaximumOfAll,
}

const FAULTY: [(&str, Wiring); 5] = [
    ("keys of the next position", Wiring::KeysAhead),
    ("softmax over queries", Wiring::OverQueries),
    ("masked after the softmax", Wiring::MaskedLate),
    ("values in reverse", Wiring::ValuesReversed),
    ("maximum over everything", Wiring::MaximumOfAll),
];

/// Fill values that hide the scores of positions that are not seen.
const FILLS: [f64; 5] = [f64::NEG_INFINITY, f64::NEG_INFINITY, -1e9, -1e4, -3.402_823_466_385_288_6e38];

impl Draft<'_, '_> {
    /// Self-attention with a residual on `x[batch, seq, hidden]`.
    pub(super) fn attend(&mut self, x: Value, faulty: bool) -> Result<Value> {
        let wrong_mask = faulty && self.random.below(3) > 0;
        let mut wiring = Wiring::Sound;
        if faulty && !wrong_mask {
            let (name, fault) = self.pick(&FAULTY);
            self.tell(name);
            wiring = fault;
        }
        let y = self.norm(x)?;
        let ahead = if wiring == Wiring::KeysAhead { self.ahead(y)? } else { y };
        let (q, k, v) = (self.project(y)?, self.project(ahead)?, self.project(ahead)?);
        let v = if wiring == Wiring::ValuesReversed { self.b.reverse(v, &[1])? } else { v };
        let (q, k) = self.rotate(q, k)?;
        let plain = !faulty && self.random.below(10) == 0;
        let y = if plain {
            self.tell("composite attention");
            self.b.composite("causal_attention", &[], &[q, k, v])?[0]
        } else {
            let scores = self.scores(q, k)?;
            let probabilities = self.probabilities(scores, wiring, wrong_mask)?;
            self.weighted(probabilities, v)?
        };
        let Sizes { batch, seq, .. } = self.sizes;
        let hidden = self.sizes.hidden();
        let y = self.b.reshape(y, [batch, seq, hidden])?;
        let output = self.weight(&[hidden, hidden])?;
        let y = self.linear(y, output)?;
        self.b.add(x, y)
    }

    /// Features of each head, `[batch, seq, heads, dim]`.
    fn project(&mut self, x: Value) -> Result<Value> {
        let Sizes { batch, seq, heads, dim } = self.sizes;
        let weight = self.weight(&[heads * dim, heads * dim])?;
        let y = self.linear(x, weight)?;
        self.b.reshape(y, [batch, seq, heads, dim])
    }

    fn rotate(&mut self, q: Value, k: Value) -> Result<(Value, Value)> {
        if self.random.coin() {
            return Ok((q, k));
        }
        self.tell("rope");
        let theta = [("theta", Attr::Real(Real(100.0)))];
        Ok((self.b.composite("rope", &theta, &[q])?[0], self.b.composite("rope", &theta, &[k])?[0]))
    }

    /// `[batch, heads, seq, seq]`.
    fn scores(&mut self, q: Value, k: Value) -> Result<Value> {
        let Sizes { batch, seq, heads, dim } = self.sizes;
        let scores = match self.random.below(3) {
            0 => self.b.dot_general(q, k, (&[0, 2], &[0, 2]), (&[3], &[3]))?,
            1 => {
                let (q, k) = (self.b.transpose(q, &[0, 2, 1, 3])?, self.b.transpose(k, &[0, 2, 3, 1])?);
                self.b.dot_general(q, k, (&[0, 1], &[0, 1]), (&[3], &[2]))?
            }
            _ => {
                let rows = |draft: &mut Self, x| {
                    let x = draft.b.transpose(x, &[0, 2, 1, 3])?;
                    draft.b.reshape(x, [batch * heads, seq, dim])
                };
                let (q, k) = (rows(self, q)?, rows(self, k)?);
                let scores = self.b.dot_general(q, k, (&[0], &[0]), (&[2], &[2]))?;
                self.b.reshape(scores, [batch, heads, seq, seq])?
            }
        };
        let scores = self.b.multiply_scalar(scores, 1.0 / (dim as f64).sqrt())?;
        self.bent(scores)
    }

    /// Scores kept below a bound, or all shifted alike, or as they are.
    fn bent(&mut self, scores: Value) -> Result<Value> {
        match self.random.below(6) {
            0 => {
                self.tell("soft cap");
                let part = self.b.splat_like(scores, 30.0)?;
                let part = self.b.divide(scores, part)?;
                let part = self.b.tanh(part)?;
                self.b.multiply_scalar(part, 30.0)
            }
            1 => {
                let shift = self.pick(&[-40.0, 40.0]);
                self.tell(format!("shifted by {shift}"));
                let shift = self.b.splat_like(scores, shift)?;
                self.b.add(scores, shift)
            }
            _ => Ok(scores),
        }
    }

    fn probabilities(&mut self, scores: Value, wiring: Wiring, wrong_mask: bool) -> Result<Value> {
        let seen = self.mask(wrong_mask)?;
        match wiring {
            Wiring::MaskedLate => {
                let all = self.softmax(scores, -1)?;
                self.keep(seen, all)
            }
            Wiring::MaximumOfAll => {
                let largest = self.b.reduce_max(scores, &[3])?;
                let largest = self.b.broadcast_missing(largest, scores, &[3])?;
                let scores = self.b.subtract(scores, largest)?;
                self.masked_exponentials(seen, scores)
            }
            _ if wiring == Wiring::Sound && self.random.below(5) == 0 => {
                self.tell("masks exponentials");
                self.masked_exponentials(seen, scores)
            }
            _ => {
                let masked = self.masked(seen, scores)?;
                self.normalized(masked, wiring == Wiring::OverQueries)
            }
        }
    }

    /// Zero where not seen.
    fn keep(&mut self, seen: Value, x: Value) -> Result<Value> {
        if self.random.coin() {
            let zero = self.b.splat_like(x, 0.0)?;
            return self.b.select(seen, x, zero);
        }
        let ones = self.b.convert(seen, DType::F32)?;
        self.b.multiply(x, ones)
    }

    fn masked_exponentials(&mut self, seen: Value, scores: Value) -> Result<Value> {
        let powers = self.b.exponential(scores)?;
        let kept = self.keep(seen, powers)?;
        let sum = self.b.reduce_sum(kept, &[3])?;
        let sum = self.b.broadcast_missing(sum, kept, &[3])?;
        self.b.divide(kept, sum)
    }

    /// The scores, those of positions that are not seen out of the way.
    fn masked(&mut self, seen: Value, scores: Value) -> Result<Value> {
        let fill = self.pick(&FILLS);
        let way = self.random.below(3);
        self.tell(format!("fill {fill:e} by way {way}"));
        match way {
            0 => {
                let unseen = self.b.splat_like(scores, fill)?;
                self.b.select(seen, scores, unseen)
            }
            1 => {
                let hidden = self.b.not(seen)?;
                let (unseen, zero) = (self.b.splat_like(scores, fill)?, self.b.splat_like(scores, 0.0)?);
                let bias = self.b.select(hidden, unseen, zero)?;
                self.b.add(scores, bias)
            }
            _ => {
                // Minus infinity would make NaN of what is seen.
                let fill = if fill.is_finite() { fill } else { -1e9 };
                let ones = self.b.convert(seen, DType::F32)?;
                let hidden = self.b.subtract_from(1.0, ones)?;
                let bias = self.b.multiply_scalar(hidden, fill)?;
                self.b.add(bias, scores)
            }
        }
    }

    fn normalized(&mut self, scores: Value, over_queries: bool) -> Result<Value> {
        let dim = if over_queries { 2 } else { 3 };
        let spelling = self.random.below(4);
        self.tell(format!("softmax {spelling}"));
        match spelling {
            0 => {
                let logs = self.b.composite("log_softmax", &[("dim", Attr::Int(dim as i64))], &[scores])?[0];
                self.b.exponential(logs)
            }
            1 => {
                let largest = self.b.reduce_max(scores, &[dim])?;
                let largest = self.b.broadcast_missing(largest, scores, &[dim])?;
                let lowered = self.b.subtract(scores, largest)?;
                let powers = self.b.exponential(lowered)?;
                let sum = self.b.reduce_sum(powers, &[dim])?;
                let sum = self.b.broadcast_missing(sum, powers, &[dim])?;
                self.b.divide(powers, sum)
            }
            _ => self.softmax(scores, dim as i64),
        }
    }

    /// The values by probability, `[batch, seq, heads, dim]`.
    fn weighted(&mut self, probabilities: Value, v: Value) -> Result<Value> {
        let y = if self.random.coin() {
            self.b.dot_general(probabilities, v, (&[0, 1], &[0, 2]), (&[3], &[1]))?
        } else {
            let v = self.b.transpose(v, &[0, 2, 1, 3])?;
            self.b.dot_general(probabilities, v, (&[0, 1], &[0, 1]), (&[3], &[2]))?
        };
        self.b.transpose(y, &[0, 2, 1, 3])
    }
}
