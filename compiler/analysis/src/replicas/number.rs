//! Whole numbers that may depend on the rank.

use super::held::{Base, Source};
use super::per_rank::PerRank;
use halite_ir::ops::Direction;
use halite_tensor::{Mesh, SubAxisId};

/// The index that a term counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Index {
    /// The position along a dimension, on this rank.
    Dim(usize),
    /// Another value at the same position.
    Of(Base),
    /// The place of another value within the shard of the rank along a sub-axis, where the value falls into that shard; elsewhere
    /// any place within it.
    Within(Base, SubAxisId),
}

/// `(index / stride % size) * factor`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term {
    pub(super) index: Index,
    pub(super) stride: usize,
    pub(super) size: usize,
    pub(super) factor: i64,
}

/// The sum of terms, of a number for each rank, and perhaps of a value of which nothing else is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Number {
    /// In increasing order.
    pub(super) terms: Vec<Term>,
    pub(super) ranks: PerRank,
    /// The value, at the same position.
    pub(super) unknown: Option<Source>,
}

impl Number {
    pub(super) fn constant(value: i64) -> Self {
        Self::of(Vec::new(), PerRank::All(value))
    }

    /// The number of the rank.
    pub(super) fn rank(mesh: &Mesh) -> Self {
        Self::of(Vec::new(), PerRank::rank(mesh))
    }

    /// The index itself, below `size`.
    pub(super) fn index(index: Index, size: usize) -> Self {
        let term = Term { index, stride: 1, size, factor: 1 };
        Self { terms: vec![term], ..Self::constant(0) }
    }

    /// A value of which nothing is known.
    pub(super) fn unknown(source: Source) -> Self {
        Self { unknown: Some(source), ..Self::constant(0) }
    }

    /// The number, where it is the same for all elements and ranks.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.of_ranks()?.same()
    }

    /// The number of each rank, where it is the same for all elements.
    pub(super) fn of_ranks(&self) -> Option<&PerRank> {
        (self.terms.is_empty() && self.unknown.is_none()).then_some(&self.ranks)
    }

    pub(super) fn of(mut terms: Vec<Term>, ranks: PerRank) -> Self {
        terms.sort_unstable();
        Self { terms, ranks, unknown: None }
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for term in &other.terms {
            let like = |own: &&mut Term| (own.index, own.stride, own.size) == (term.index, term.stride, term.size);
            match terms.iter_mut().find(like) {
                Some(own) => own.factor = own.factor.checked_add(term.factor)?,
                None => terms.push(*term),
            }
        }
        terms.retain(|term| term.factor != 0);
        let unknown = match (self.unknown, other.unknown) {
            (Some(_), Some(_)) => return None,
            (own, others) => own.or(others),
        };
        Some(Self { unknown, ..Self::of(terms, self.ranks.plus(&other.ranks)?) })
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.scaled(-1)?)
    }

    fn scaled(&self, by: i64) -> Option<Self> {
        if self.unknown.is_some() {
            return None;
        }
        let scaled = |term: &Term| Some(Term { factor: term.factor.checked_mul(by)?, ..*term });
        let terms: Option<Vec<Term>> = self.terms.iter().filter(|_| by != 0).map(scaled).collect();
        Some(Self::of(terms?, self.ranks.scaled(by)?))
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(by)) => self.scaled(by),
            (Some(by), _) => other.scaled(by),
            _ => Some(Self::of(Vec::new(), self.of_ranks()?.zip(other.of_ranks()?, i64::checked_mul)?)),
        }
    }

    /// The quotient and the remainder, where what ranks add carries nothing from one to the other.
    pub(super) fn divided(&self, other: &Self) -> Option<(Self, Self)> {
        if let (Some(own), Some(by)) = (self.of_ranks(), other.of_ranks()) {
            let (quotients, rests) = own.divided(by)?;
            return Some((Self::of(Vec::new(), quotients), Self::of(Vec::new(), rests)));
        }
        let by = other.as_constant().filter(|&by| by > 0)?;
        if self.unknown.is_some() || !self.is_mixed_radix() {
            return None;
        }
        let (mut high, mut low) = (Vec::new(), Vec::new());
        for &term in &self.terms {
            if term.factor % by == 0 {
                high.push(Term { factor: term.factor / by, ..term });
                continue;
            }
            let part = usize::try_from(by / term.factor).ok().filter(|_| by % term.factor == 0)?;
            if part >= term.size {
                low.push(term);
            } else if term.size.is_multiple_of(part) {
                low.push(Term { size: part, ..term });
                high.push(Term { stride: term.stride * part, size: term.size / part, factor: 1, ..term });
            } else {
                return None;
            }
        }
        let reach = |sum: i64, term: &Term| sum.checked_add(term.factor.checked_mul(term.size as i64 - 1)?);
        let reach = low.iter().try_fold(0, reach)?;
        let (quotients, rests) = self.ranks.divided(&PerRank::All(by))?;
        if self.ranks.ends().0 < 0 || rests.ends().1 >= by.checked_sub(reach)? {
            return None;
        }
        Some((Self::of(high, quotients), Self::of(low, rests)))
    }

    /// Whether no two terms overlap, as digits of a number do not.
    fn is_mixed_radix(&self) -> bool {
        let mut terms = self.terms.clone();
        terms.sort_unstable_by_key(|term| term.factor);
        let ends = |term: &Term| term.factor.checked_mul(term.size as i64);
        terms.iter().all(|term| term.factor > 0)
            && terms.windows(2).all(|pair| ends(&pair[0]).is_some_and(|end| pair[1].factor % end == 0))
    }

    /// The least and the most of all elements and ranks; `None` where an `i64` does not hold one.
    pub(super) fn ends(&self) -> Option<(i64, i64)> {
        let bounded = self.unknown.is_none().then_some(&self.terms)?;
        bounded.iter().try_fold(self.ranks.ends(), |(least, most), term| {
            let reach = term.factor.checked_mul(i64::try_from(term.size).ok()?.checked_sub(1)?)?;
            Some((least.checked_add(reach.min(0))?, most.checked_add(reach.max(0))?))
        })
    }

    /// 1 where the comparison holds and 0 elsewhere, where the ends decide it or both are the same for all elements.
    pub(super) fn compared(&self, other: &Self, direction: Direction) -> Option<Self> {
        if let Some(decided) = self.decided(other, direction) {
            return Some(Self::constant(decided.into()));
        }
        let holds = |x: i64, y: i64| Some(i64::from(direction.holds(&x, &y)));
        Some(Self::of(Vec::new(), self.of_ranks()?.zip(other.of_ranks()?, holds)?))
    }

    /// Whether the comparison holds, where it does for all elements or for none.
    fn decided(&self, other: &Self, direction: Direction) -> Option<bool> {
        let ((low, high), (least, most)) = (self.ends()?, other.ends()?);
        let always = |all: bool, none: bool| (all || none).then_some(all);
        match direction {
            Direction::Lt => always(high < least, low >= most),
            Direction::Le => always(high <= least, low > most),
            Direction::Gt => always(low > most, high <= least),
            Direction::Ge => always(low >= most, high < least),
            Direction::Eq | Direction::Ne => None,
        }
    }

    /// `x` where this is not 0 and `y` elsewhere.
    pub(super) fn chosen(&self, x: &Self, y: &Self) -> Option<Self> {
        match self.as_constant() {
            Some(0) => Some(y.clone()),
            Some(_) => Some(x.clone()),
            None => Some(Self::of(Vec::new(), PerRank::chosen(self.of_ranks()?, x.of_ranks()?, y.of_ranks()?))),
        }
    }

    /// The lesser of two, where the ends decide which it is or both are the same for all elements.
    pub(super) fn least(&self, other: &Self) -> Option<Self> {
        self.compared(other, Direction::Le)?.chosen(self, other)
    }

    /// The greater of two, as [`least`](Self::least).
    pub(super) fn greatest(&self, other: &Self) -> Option<Self> {
        self.compared(other, Direction::Ge)?.chosen(self, other)
    }

    pub(super) fn both(&self, other: &Self) -> Option<Self> {
        Some(Self::of(Vec::new(), self.of_ranks()?.zip(other.of_ranks()?, |x, y| Some(x & y))?))
    }

    /// The same with its dimensions elsewhere.
    pub(super) fn moved(&self, to: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let moved = |term: &Term| match term.index {
            Index::Dim(dim) => Some(Term { index: Index::Dim(to(dim)?), ..*term }),
            Index::Of(_) | Index::Within(..) => Some(*term),
        };
        let terms = self.terms.iter().map(moved).collect::<Option<_>>()?;
        Some(Self { unknown: self.unknown, ..Self::of(terms, self.ranks.clone()) })
    }
}
