//! Masks of attention in many spellings: which positions a position sees.

use super::{Draft, Sizes};
use halite_ir::Value;
use halite_ir::ops::Direction;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

type Mask = fn(&mut Draft<'_, '_>) -> Result<Value>;

/// Masks under which no position sees a later one.
const SOUND: &[(&str, Mask)] = &[
    ("sees the past", |draft| draft.spread_past()),
    ("sees the past", |draft| draft.spread_past()),
    ("sees the past", |draft| draft.spread_past()),
    ("sees a window", |draft| draft.window()),
    ("sees its document", |draft| draft.document(true)),
    ("misses one position", |draft| draft.one_element(false)),
    ("sees a prefix of one", |draft| draft.prefix(1)),
];

/// Masks under which some position sees a later one.
const FAULTY: &[(&str, Mask)] = &[
    ("sees one ahead", |draft| draft.spread(|draft| draft.at_most(1))),
    ("sees two ahead", |draft| draft.spread(|draft| draft.at_most(2))),
    ("sees the future", |draft| draft.spread(|draft| draft.transposed())),
    ("sees from the other end", |draft| draft.spread(|draft| draft.mirrored())),
    ("sees a prefix", |draft| draft.longer_prefix()),
    ("sees everything", |draft| draft.spread(|draft| draft.everything())),
    ("sees a window ahead too", |draft| draft.spread(|draft| draft.window_only())),
    ("sees a band", |draft| draft.spread(|draft| draft.band())),
    ("sees every other position", |draft| draft.spread(|draft| draft.strided())),
    ("sees one position too many", |draft| draft.one_element(true)),
    ("sees its document, later parts too", |draft| draft.document(false)),
    ("sees everything in one head", |draft| draft.one_head()),
];

impl Draft<'_, '_> {
    /// A mask `pred[batch, heads, seq, seq]`, queries before keys.
    pub(super) fn mask(&mut self, faulty: bool) -> Result<Value> {
        let (name, mask) = self.pick(if faulty { FAULTY } else { SOUND });
        self.tell(name);
        mask(self)
    }

    /// Query and key positions, `[seq, seq]`.
    fn positions(&mut self) -> Result<(Value, Value)> {
        let seq = self.sizes.seq;
        let dtype = self.pick(&[DType::S32, DType::S32, DType::F32]);
        if self.random.coin() {
            return Ok((self.b.iota(dtype, [seq, seq], 0)?, self.b.iota(dtype, [seq, seq], 1)?));
        }
        let line = self.b.iota(dtype, [seq], 0)?;
        Ok((self.b.broadcast_in_dim(line, &[0], [seq, seq])?, self.b.broadcast_in_dim(line, &[1], [seq, seq])?))
    }

    /// Whether the key is at most `ahead` positions after the query.
    fn at_most(&mut self, ahead: i64) -> Result<Value> {
        let spelling = self.random.below(9);
        self.tell(format!("(spelling {spelling})"));
        if spelling == 0 {
            return self.literal(|query, key| key as i64 <= query as i64 + ahead);
        }
        if spelling == 1 && ahead == 0 {
            let size = halite_ir::Attr::Int(self.sizes.seq as i64);
            return Ok(self.b.composite("causal_mask", &[("size", size)], &[])?[0]);
        }
        if spelling == 2 {
            return self.part_of_larger(ahead);
        }
        let (query, key) = self.positions()?;
        let ahead = ahead as f64;
        match spelling {
            3 => {
                let hidden = self.b.add_scalar(query, ahead)?;
                let hidden = self.b.compare(key, hidden, Direction::Gt)?;
                self.b.not(hidden)
            }
            4 => {
                let distance = self.b.subtract(query, key)?;
                let least = self.b.splat_like(distance, -ahead)?;
                self.b.compare(distance, least, Direction::Ge)
            }
            5 => {
                let limit = self.b.add_scalar(query, ahead + 1.0)?;
                self.b.compare(key, limit, Direction::Lt)
            }
            6 => {
                let shifted = self.b.add_scalar(key, -ahead)?;
                let seen = self.b.compare(query, shifted, Direction::Ge)?;
                let numbers = self.b.convert(seen, DType::F32)?;
                let zero = self.b.splat_like(numbers, 0.0)?;
                self.b.compare(numbers, zero, Direction::Ne)
            }
            7 => {
                let limit = self.b.add_scalar(query, ahead)?;
                let hidden = self.b.compare(limit, key, Direction::Lt)?;
                let triangle = self.b.convert(hidden, DType::S32)?;
                let zero = self.b.splat_like(triangle, 0.0)?;
                self.b.compare(triangle, zero, Direction::Eq)
            }
            _ => {
                let limit = self.b.add_scalar(query, ahead)?;
                self.b.compare(key, limit, Direction::Le)
            }
        }
    }

    /// A part on the diagonal of a larger mask.
    fn part_of_larger(&mut self, ahead: i64) -> Result<Value> {
        let (seq, start) = (self.sizes.seq, self.random.below(3));
        let large = [seq + 3, seq + 3];
        let (query, key) = (self.b.iota(DType::S32, large, 0)?, self.b.iota(DType::S32, large, 1)?);
        let limit = self.b.add_scalar(query, ahead as f64)?;
        let seen = self.b.compare(key, limit, Direction::Le)?;
        self.b.slice(seen, &[start, start], &[start + seq, start + seq])
    }

    fn literal(&mut self, seen: impl Fn(usize, usize) -> bool) -> Result<Value> {
        let seq = self.sizes.seq;
        let elements = (0..seq * seq).map(|index| i128::from(seen(index / seq, index % seq)));
        self.b.constant(HostTensor::from_ints(DType::Pred, [seq, seq], elements))
    }

    /// One mask for all sequences and heads.
    fn spread(&mut self, square: impl FnOnce(&mut Self) -> Result<Value>) -> Result<Value> {
        let Sizes { batch, heads, seq, .. } = self.sizes;
        let square = square(self)?;
        let shape = [batch, heads, seq, seq];
        if self.random.coin() {
            let line = self.b.reshape(square, [1, seq, seq])?;
            let one = self.b.reshape(line, [seq, seq])?;
            return self.b.broadcast_in_dim(one, &[2, 3], shape);
        }
        self.b.broadcast_in_dim(square, &[2, 3], shape)
    }

    fn spread_past(&mut self) -> Result<Value> {
        self.spread(|draft| draft.at_most(0))
    }

    fn transposed(&mut self) -> Result<Value> {
        if self.random.coin() {
            let past = self.at_most(0)?;
            return self.b.transpose(past, &[1, 0]);
        }
        let (query, key) = self.positions()?;
        self.b.compare(key, query, Direction::Ge)
    }

    fn mirrored(&mut self) -> Result<Value> {
        let past = self.at_most(0)?;
        self.b.reverse(past, &[1])
    }

    fn everything(&mut self) -> Result<Value> {
        self.b.splat(DType::Pred, [self.sizes.seq, self.sizes.seq], 1.0)
    }

    /// Whether the key is less than `width` positions before the query, or after it.
    fn near(&mut self, width: usize) -> Result<Value> {
        let (query, key) = self.positions()?;
        let start = self.b.add_scalar(query, -(width as f64))?;
        self.b.compare(key, start, Direction::Gt)
    }

    fn window(&mut self) -> Result<Value> {
        let width = 1 + self.random.below(self.sizes.seq);
        self.spread(|draft| {
            let (near, past) = (draft.near(width)?, draft.at_most(0)?);
            draft.b.and(near, past)
        })
    }

    fn window_only(&mut self) -> Result<Value> {
        let width = 1 + self.random.below(self.sizes.seq);
        self.near(width)
    }

    fn band(&mut self) -> Result<Value> {
        let (query, key) = self.positions()?;
        let distance = self.b.subtract(query, key)?;
        let size = self.b.abs(distance)?;
        let width = self.b.splat_like(size, 2.0 + self.random.below(2) as f64)?;
        self.b.compare(size, width, Direction::Lt)
    }

    fn strided(&mut self) -> Result<Value> {
        let seq = self.sizes.seq;
        let key = self.b.iota(DType::S32, [seq, seq], 1)?;
        let two = self.b.splat_like(key, 2.0)?;
        let rest = self.b.remainder(key, two)?;
        let zero = self.b.splat_like(rest, 0.0)?;
        let even = self.b.compare(rest, zero, Direction::Eq)?;
        let past = self.at_most(0)?;
        self.b.or(past, even)
    }

    fn longer_prefix(&mut self) -> Result<Value> {
        let length = 2 + self.random.below(self.sizes.seq - 2);
        self.prefix(length)
    }

    fn prefix(&mut self, length: usize) -> Result<Value> {
        self.spread(|draft| {
            let (_, key) = draft.positions()?;
            let length = draft.b.splat_like(key, length as f64)?;
            let given = draft.b.compare(key, length, Direction::Lt)?;
            let past = draft.at_most(0)?;
            draft.b.or(past, given)
        })
    }

    /// The past with one element of a later position added, or one of an earlier position missing.
    fn one_element(&mut self, later: bool) -> Result<Value> {
        let seq = self.sizes.seq;
        let early = self.random.below(seq - 1);
        let late = early + 1 + self.random.below(seq - 1 - early);
        let other = if later { (early, late) } else { (late, early) };
        self.spread(|draft| draft.literal(|query, key| (key <= query) != ((query, key) == other)))
    }

    /// Positions whose tokens are of one kind, as documents are told apart by separators.
    fn document(&mut self, causal: bool) -> Result<Value> {
        let Sizes { batch, heads, seq, .. } = self.sizes;
        let ids = self.ids.unwrap_or_else(|| unreachable!("the tokens are read first"));
        let half = self.b.splat_like(ids, 7.0)?;
        let kind = self.b.compare(ids, half, Direction::Lt)?;
        let kind = self.b.convert(kind, DType::S32)?;
        let shape = [batch, heads, seq, seq];
        let of_query = self.b.broadcast_in_dim(kind, &[0, 2], shape)?;
        let of_key = self.b.broadcast_in_dim(kind, &[0, 3], shape)?;
        let same = self.b.compare(of_query, of_key, Direction::Eq)?;
        if !causal {
            return Ok(same);
        }
        let past = self.spread_past()?;
        self.b.and(same, past)
    }

    /// The past, but for the last head, which sees everything.
    fn one_head(&mut self) -> Result<Value> {
        let Sizes { batch, heads, seq, .. } = self.sizes;
        let past = self.at_most(0)?;
        let others = self.b.broadcast_in_dim(past, &[2, 3], [batch, heads - 1, seq, seq])?;
        let last = self.b.splat(DType::Pred, [batch, 1, seq, seq], 1.0)?;
        self.b.concatenate(&[others, last], 1)
    }
}
