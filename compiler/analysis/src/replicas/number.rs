//! Whole numbers that may depend on the rank.

use super::held::Base;
use super::per_rank::PerRank;
use halite_ir::ops::Direction;
use halite_tensor::Mesh;

/// The index that a term counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Index {
    /// The position along a dimension, on this rank.
    Dim(usize),
    /// Another value at the same position.
    Of(Base),
}

/// `(index / stride % size) * factor`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term {
    pub(super) index: Index,
    pub(super) stride: usize,
    pub(super) size: usize,
    pub(super) factor: i64,
}

/// The sum of terms and of a number for each rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Number {
    /// In increasing order.
    pub(super) terms: Vec<Term>,
    pub(super) ranks: PerRank,
}

impl Number {
    pub(super) fn constant(value: i64) -> Self {
        Self { terms: Vec::new(), ranks: PerRank::All(value) }
    }

    /// The number of the rank.
    pub(super) fn rank(mesh: &Mesh) -> Self {
        Self { terms: Vec::new(), ranks: PerRank::rank(mesh) }
    }

    /// The index itself, below `size`.
    pub(super) fn index(index: Index, size: usize) -> Self {
        let term = Term { index, stride: 1, size, factor: 1 };
        Self { terms: vec![term], ..Self::constant(0) }
    }

    /// The number, where it is the same for all elements and ranks.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.ranks.same().filter(|_| self.terms.is_empty())
    }

    /// The number of each rank, where it is the same for all elements.
    pub(super) fn of_ranks(&self) -> Option<&PerRank> {
        self.terms.is_empty().then_some(&self.ranks)
    }

    pub(super) fn of(mut terms: Vec<Term>, ranks: PerRank) -> Self {
        terms.sort_unstable();
        Self { terms, ranks }
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
        Some(Self::of(terms, self.ranks.plus(&other.ranks)?))
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.scaled(-1)?)
    }

    fn scaled(&self, by: i64) -> Option<Self> {
        let scaled = |term: &Term| Some(Term { factor: term.factor.checked_mul(by)?, ..*term });
        let terms: Option<Vec<Term>> = self.terms.iter().filter(|_| by != 0).map(scaled).collect();
        Some(Self::of(terms?, self.ranks.scaled(by)?))
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(by)) => self.scaled(by),
            (Some(by), _) => other.scaled(by),
            _ if self.terms.is_empty() && other.terms.is_empty() => {
                Some(Self::of(Vec::new(), self.ranks.zip(&other.ranks, i64::checked_mul)?))
            }
            _ => None,
        }
    }

    /// The quotient and the remainder, where what ranks add carries nothing from one to the other.
    pub(super) fn divided(&self, other: &Self) -> Option<(Self, Self)> {
        if self.terms.is_empty() && other.terms.is_empty() {
            let (quotients, rests) = self.ranks.divided(&other.ranks)?;
            return Some((Self::of(Vec::new(), quotients), Self::of(Vec::new(), rests)));
        }
        let by = other.as_constant().filter(|&by| by > 0)?;
        if !self.is_mixed_radix() {
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

    pub(super) fn compared(&self, other: &Self, direction: Direction) -> Option<Self> {
        if !self.terms.is_empty() || !other.terms.is_empty() {
            return None;
        }
        Some(Self::of(Vec::new(), self.ranks.zip(&other.ranks, |x, y| Some(i64::from(direction.holds(&x, &y))))?))
    }

    pub(super) fn both(&self, other: &Self) -> Option<Self> {
        let bits = self.terms.is_empty() && other.terms.is_empty();
        bits.then(|| Some(Self::of(Vec::new(), self.ranks.zip(&other.ranks, |x, y| Some(x & y))?))).flatten()
    }

    /// The same with its dimensions elsewhere.
    pub(super) fn moved(&self, to: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let moved = |term: &Term| match term.index {
            Index::Dim(dim) => Some(Term { index: Index::Dim(to(dim)?), ..*term }),
            Index::Of(_) => Some(*term),
        };
        Some(Self::of(self.terms.iter().map(moved).collect::<Option<_>>()?, self.ranks.clone()))
    }
}
