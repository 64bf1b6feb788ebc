//! Masks as numbers in many spellings: 0 where a query does not see a key.

use super::Draft;
use halite_ir::Value;
use halite_ir::ops::Direction;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The offsets of keys: behind `memory` keys that are always there, and seen up to `shift` positions after the query.
#[derive(Clone, Copy)]
pub(super) struct KeyOffsets {
    pub(super) memory: usize,
    pub(super) shift: i64,
}

/// Query position plus shift, and key position without the memory, `[seq, keys]`.
#[derive(Clone, Copy)]
struct Pair {
    query: Value,
    key: Value,
}

type Spelling = fn(&mut Draft<'_, '_>, Pair) -> Result<Value>;

/// More than all positions.
const MANY: f64 = 32.0;

/// Made of comparisons, literals and other functions.
const PLAIN: &[(&str, Spelling)] = &[
    ("query >= key", |draft, at| draft.flag(at.query, at.key, Direction::Ge)),
    ("key < query + 1", |draft, at| {
        let limit = draft.b.add_scalar(at.query, 1.0)?;
        draft.flag(at.key, limit, Direction::Lt)
    }),
    ("d + |d|", |draft, at| {
        let next = draft.next(at)?;
        let size = draft.b.abs(next)?;
        draft.b.add(next, size)
    }),
    ("query squared >= key squared", |draft, at| {
        let [query, key] = [draft.not_negative(at.query)?, draft.not_negative(at.key)?];
        let [query, key] = [draft.b.multiply(query, query)?, draft.b.multiply(key, key)?];
        draft.flag(query, key, Direction::Ge)
    }),
    ("past and not (window)", |draft, at| {
        let past = draft.b.compare(at.key, at.query, Direction::Le)?;
        let start = draft.b.add_scalar(at.query, -3.0)?;
        let old = draft.b.compare(at.key, start, Direction::Lt)?;
        let near = draft.b.not(old)?;
        let seen = draft.b.and(past, near)?;
        draft.b.convert(seen, draft.float)
    }),
    ("sum of steps", |draft, at| {
        let steps = draft.flag(at.query, at.key, Direction::Ge)?;
        let other = draft.flag(at.query, at.key, Direction::Gt)?;
        draft.b.add(steps, other)
    }),
    ("literal times (query >= key)", |draft, at| draft.literal(at)),
];

/// Made with `maximum`, `minimum`, `floor` or `%`.
const ARITHMETIC: &[(&str, Spelling)] = &[
    ("max(d + 1, 0)", |draft, at| draft.ramp(at)),
    ("min(max(d + 1, 0), 1)", |draft, at| draft.step(at)),
    ("max(d + 1, 0) squared", |draft, at| {
        let ramp = draft.ramp(at)?;
        draft.b.multiply(ramp, ramp)
    }),
    ("floor((d + n) / n)", |draft, at| {
        let distance = draft.distance(at)?;
        let raised = draft.b.add_scalar(distance, MANY)?;
        let part = draft.b.multiply_scalar(raised, 1.0 / MANY)?;
        draft.b.floor(part)
    }),
    ("max(sign(d + 1), 0)", |draft, at| {
        let next = draft.next(at)?;
        let sign = draft.b.sign(next)?;
        draft.at_least(sign, 0.0)
    }),
    ("1 - min(max(-d, 0), 1)", |draft, at| {
        let distance = draft.distance(at)?;
        let back = draft.b.negate(distance)?;
        let back = draft.at_least(back, 0.0)?;
        let hidden = draft.at_most(back, 1.0)?;
        draft.b.subtract_from(1.0, hidden)
    }),
    ("1 - min(|min(d, 0)|, 1)", |draft, at| {
        let distance = draft.distance(at)?;
        let back = draft.at_most(distance, 0.0)?;
        let back = draft.b.abs(back)?;
        let hidden = draft.at_most(back, 1.0)?;
        draft.b.subtract_from(1.0, hidden)
    }),
    ("every other one of the past", |draft, at| {
        let distance = draft.distance(at)?;
        let raised = draft.b.add_scalar(distance, MANY)?;
        let two = draft.b.splat_like(raised, 2.0)?;
        let odd = draft.b.remainder(raised, two)?;
        let even = draft.b.subtract_from(1.0, odd)?;
        let ramp = draft.ramp(at)?;
        draft.b.multiply(even, ramp)
    }),
    ("every other one of the past, by row", |draft, at| {
        let two = draft.b.splat_like(at.query, 2.0)?;
        let query = draft.not_negative(at.query)?;
        let parity = draft.b.remainder(query, two)?;
        let parity = draft.b.convert(parity, draft.float)?;
        let factor = draft.b.add_scalar(parity, 1.0)?;
        let ramp = draft.ramp(at)?;
        draft.b.multiply(factor, ramp)
    }),
    ("window as a product", |draft, at| {
        let (ramp, distance) = (draft.ramp(at)?, draft.distance(at)?);
        let rest = draft.b.subtract_from(3.0, distance)?;
        let rest = draft.at_least(rest, 0.0)?;
        draft.b.multiply(ramp, rest)
    }),
    ("min(query, key) == key", |draft, at| {
        let least = draft.b.minimum(at.query, at.key)?;
        draft.flag(least, at.key, Direction::Eq)
    }),
    ("max(query, key) == query", |draft, at| {
        let most = draft.b.maximum(at.query, at.key)?;
        draft.flag(most, at.query, Direction::Eq)
    }),
    ("floor((key + 1) / 2) <= floor(query / 2)", |draft, at| {
        let key = draft.b.add_scalar(at.key, 1.0)?;
        let (query, key) = (draft.half(at.query)?, draft.half(key)?);
        draft.flag(key, query, Direction::Le)
    }),
    ("1 - min(|floor(d / n)|, 1)", |draft, at| {
        let distance = draft.distance(at)?;
        let part = draft.b.multiply_scalar(distance, 1.0 / MANY)?;
        let part = draft.b.floor(part)?;
        let size = draft.b.abs(part)?;
        let hidden = draft.at_most(size, 1.0)?;
        draft.b.subtract_from(1.0, hidden)
    }),
    ("root of max(d + 1, 0)", |draft, at| {
        let ramp = draft.ramp(at)?;
        draft.b.sqrt(ramp)
    }),
    ("decay times step", |draft, at| {
        let (step, distance) = (draft.step(at)?, draft.distance(at)?);
        let decay = draft.b.multiply_scalar(distance, -0.25)?;
        let decay = draft.b.exponential(decay)?;
        draft.b.multiply(decay, step)
    }),
    ("clamp(0, d + 1, 1)", |draft, at| {
        let next = draft.next(at)?;
        let (zero, one) = (draft.b.splat(draft.float, [0; 0], 0.0)?, draft.b.splat(draft.float, [0; 0], 1.0)?);
        let shape = draft.b.shape(next).clone();
        let zero = draft.b.broadcast_in_dim(zero, &[], shape.clone())?;
        let one = draft.b.broadcast_in_dim(one, &[], shape)?;
        draft.b.clamp(zero, next, one)
    }),
    ("max(d, 0) / max(|d|, 1)", |draft, at| {
        let next = draft.next(at)?;
        let size = draft.b.abs(next)?;
        let (over, under) = (draft.at_least(next, 0.0)?, draft.at_least(size, 1.0)?);
        draft.b.divide(over, under)
    }),
    ("from one flat count", |draft, at| draft.flat(at)),
];

impl Draft<'_, '_> {
    /// A mask `[seq, keys]`: 0 at hidden keys, above 0 at most others.
    pub(super) fn mask(&mut self, offsets: KeyOffsets) -> Result<Value> {
        let arithmetic = self.random.below(3) > 0;
        let (name, spelling) = self.pick(if arithmetic { ARITHMETIC } else { PLAIN });
        self.is_arithmetic |= arithmetic;
        self.tell(format!("{name}, shifted by {}", offsets.shift));
        let pair = self.pair(offsets)?;
        spelling(self, pair)
    }

    /// Query minus key, where it is more than 0, `[seq, keys]`; hidden keys are those before which this is.
    pub(super) fn ahead(&mut self, offsets: KeyOffsets) -> Result<Value> {
        self.is_arithmetic = true;
        self.tell(format!("max(-d, 0), shifted by {}", offsets.shift));
        let pair = self.pair(offsets)?;
        let distance = self.distance(pair)?;
        let back = self.b.negate(distance)?;
        self.at_least(back, 0.0)
    }

    pub(super) fn at_least(&mut self, x: Value, least: f64) -> Result<Value> {
        let least = self.b.splat_like(x, least)?;
        self.b.maximum(x, least)
    }

    pub(super) fn at_most(&mut self, x: Value, most: f64) -> Result<Value> {
        let most = self.b.splat_like(x, most)?;
        if self.random.coin() { self.b.minimum(x, most) } else { self.b.minimum(most, x) }
    }

    fn pair(&mut self, offsets: KeyOffsets) -> Result<Pair> {
        let shape = [self.seq, self.seq + offsets.memory];
        let float = self.float;
        let dtype = self.pick(&[DType::S32, float]);
        let (query, key) = if self.random.coin() {
            (self.b.iota(dtype, shape, 0)?, self.b.iota(dtype, shape, 1)?)
        } else {
            let (rows, columns) = (self.b.iota(dtype, [shape[0]], 0)?, self.b.iota(dtype, [shape[1]], 0)?);
            (self.b.broadcast_in_dim(rows, &[0], shape)?, self.b.broadcast_in_dim(columns, &[1], shape)?)
        };
        let key = if offsets.memory > 0 { self.b.add_scalar(key, -(offsets.memory as f64))? } else { key };
        let query = if offsets.shift != 0 { self.b.add_scalar(query, offsets.shift as f64)? } else { query };
        Ok(Pair { query, key })
    }

    /// Query minus key.
    fn distance(&mut self, at: Pair) -> Result<Value> {
        let distance = self.b.subtract(at.query, at.key)?;
        self.b.convert(distance, self.float)
    }

    /// Query minus key plus one.
    fn next(&mut self, at: Pair) -> Result<Value> {
        let distance = self.distance(at)?;
        self.b.add_scalar(distance, 1.0)
    }

    fn ramp(&mut self, at: Pair) -> Result<Value> {
        let next = self.next(at)?;
        self.at_least(next, 0.0)
    }

    fn step(&mut self, at: Pair) -> Result<Value> {
        let ramp = self.ramp(at)?;
        self.at_most(ramp, 1.0)
    }

    fn flag(&mut self, x: Value, y: Value, direction: Direction) -> Result<Value> {
        let seen = self.b.compare(x, y, direction)?;
        self.b.convert(seen, self.float)
    }

    /// Positions that are not negative.
    fn not_negative(&mut self, x: Value) -> Result<Value> {
        self.at_least(x, 0.0)
    }

    /// Half of whole numbers, rounded down.
    fn half(&mut self, x: Value) -> Result<Value> {
        let x = self.b.convert(x, self.float)?;
        let half = self.b.multiply_scalar(x, 0.5)?;
        self.b.floor(half)
    }

    /// The distance from the numbers of a flat count.
    fn flat(&mut self, at: Pair) -> Result<Value> {
        let [seq, keys] = self.b.shape(at.query)[..] else { unreachable!("positions are a matrix") };
        let count = self.b.iota(DType::S32, [seq * keys], 0)?;
        let width = self.b.splat_like(count, keys as f64)?;
        let (row, column) = (self.b.divide(count, width)?, self.b.remainder(count, width)?);
        let (row, column) = (self.b.reshape(row, [seq, keys])?, self.b.reshape(column, [seq, keys])?);
        let (row, column) = (self.b.convert(row, self.float)?, self.b.convert(column, self.float)?);
        let (first_row, first_column) = (self.b.convert(at.query, self.float)?, self.b.convert(at.key, self.float)?);
        // Both count the same, so that the mean of the two is either.
        let (query, key) = (self.b.add(row, first_row)?, self.b.add(column, first_column)?);
        let distance = self.b.subtract(query, key)?;
        let half = self.b.multiply_scalar(distance, 0.5)?;
        let half = self.b.add_scalar(half, 1.0)?;
        let half = self.b.floor(half)?;
        self.at_least(half, 0.0)
    }

    /// Numbers in the text, 0 after the diagonal, times a comparison.
    fn literal(&mut self, at: Pair) -> Result<Value> {
        let [seq, keys] = self.b.shape(at.query)[..] else { unreachable!("positions are a matrix") };
        let ahead = (keys - seq) as i64;
        let seen = |index: usize| (index % keys) as i64 - ahead <= (index / keys) as i64;
        let numbers = (0..seq * keys).map(|index| f64::from(u8::from(seen(index))) * (1.0 + (index % 3) as f64));
        let numbers = self.b.constant(HostTensor::from_f64s(self.float, [seq, keys], numbers))?;
        let plain = self.flag(at.query, at.key, Direction::Ge)?;
        self.b.multiply(numbers, plain)
    }
}
