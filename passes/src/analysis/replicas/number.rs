//! Whole numbers that the number of the rank is behind.

use super::mask::Base;
use super::state::{Cause, Part, Placed, Reading, Why};
use halite_ir::ops::Direction;
use halite_tensor::{AtomId, Mesh};
use std::rc::Rc;

/// What a term counts.
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

/// A sum of terms and a number for each rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Number {
    /// In increasing order.
    pub(super) terms: Vec<Term>,
    pub(super) ranks: Rc<[i64]>,
}

impl Number {
    pub(super) fn constant(mesh: &Mesh, value: i64) -> Self {
        Self { terms: Vec::new(), ranks: vec![value; mesh.num_ranks()].into() }
    }

    /// The number of the rank.
    pub(super) fn rank(mesh: &Mesh) -> Self {
        Self { terms: Vec::new(), ranks: (0..mesh.num_ranks() as i64).collect() }
    }

    /// The index itself, below `size`.
    pub(super) fn index(mesh: &Mesh, index: Index, size: usize) -> Self {
        let term = Term { index, stride: 1, size, factor: 1 };
        Self { terms: vec![term], ..Self::constant(mesh, 0) }
    }

    /// The number, where it is the same for all elements and ranks.
    pub(super) fn as_constant(&self) -> Option<i64> {
        let first = *self.ranks.first()?;
        (self.terms.is_empty() && self.ranks.iter().all(|&rank| rank == first)).then_some(first)
    }

    /// The number of each rank, where it is the same for all elements.
    pub(super) fn of_ranks(&self) -> Option<&[i64]> {
        self.terms.is_empty().then_some(&*self.ranks)
    }

    fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Rc<[i64]>> {
        self.ranks.iter().zip(other.ranks.iter()).map(|(&x, &y)| f(x, y)).collect()
    }

    fn of(mut terms: Vec<Term>, ranks: Rc<[i64]>) -> Self {
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
        Some(Self::of(terms, self.zip(other, i64::checked_add)?))
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.scaled(-1)?)
    }

    fn scaled(&self, by: i64) -> Option<Self> {
        let scaled = |term: &Term| Some(Term { factor: term.factor.checked_mul(by)?, ..*term });
        let terms: Option<Vec<Term>> = self.terms.iter().filter(|_| by != 0).map(scaled).collect();
        let ranks: Option<Rc<[i64]>> = self.ranks.iter().map(|rank| rank.checked_mul(by)).collect();
        Some(Self::of(terms?, ranks?))
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(by)) => self.scaled(by),
            (Some(by), _) => other.scaled(by),
            _ if self.terms.is_empty() && other.terms.is_empty() => {
                Some(Self::of(Vec::new(), self.zip(other, i64::checked_mul)?))
            }
            _ => None,
        }
    }

    /// The quotient and the remainder.
    pub(super) fn divided(&self, other: &Self) -> Option<(Self, Self)> {
        if self.terms.is_empty() && other.terms.is_empty() {
            let ranks = (self.zip(other, i64::checked_div)?, self.zip(other, i64::checked_rem)?);
            return Some((Self::of(Vec::new(), ranks.0), Self::of(Vec::new(), ranks.1)));
        }
        let by = other.as_constant().filter(|&by| by > 0)?;
        if self.ranks.iter().any(|&rank| rank != 0) || !self.is_mixed_radix() {
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
        Some((Self::of(high, self.ranks.clone()), Self::of(low, self.ranks.clone())))
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
        let holds = |x: i64, y: i64| match direction {
            Direction::Eq => x == y,
            Direction::Ne => x != y,
            Direction::Ge => x >= y,
            Direction::Gt => x > y,
            Direction::Le => x <= y,
            Direction::Lt => x < y,
        };
        Some(Self::of(Vec::new(), self.zip(other, |x, y| Some(i64::from(holds(x, y))))?))
    }

    pub(super) fn both(&self, other: &Self) -> Option<Self> {
        let bits = self.terms.is_empty() && other.terms.is_empty();
        bits.then(|| Some(Self::of(Vec::new(), self.zip(other, |x, y| Some(x & y))?))).flatten()
    }

    /// The same with its dimensions elsewhere.
    pub(super) fn moved(&self, to: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let moved = |term: &Term| match term.index {
            Index::Dim(dim) => Some(Term { index: Index::Dim(to(dim)?), ..*term }),
            Index::Of(_) => Some(*term),
        };
        Some(Self::of(self.terms.iter().map(moved).collect::<Option<_>>()?, self.ranks.clone()))
    }

    /// Along which atoms the number of the rank counts, and by how much; `None` where it is no sum over these.
    pub(super) fn steps(&self, mesh: &Mesh) -> Option<Vec<(AtomId, i64)>> {
        let first = *self.ranks.first()?;
        let step = |atom: AtomId| (atom, self.ranks[mesh.atoms()[atom].stride].wrapping_sub(first));
        let steps: Vec<_> = (0..mesh.atoms().len()).map(step).filter(|step| step.1 != 0).collect();
        let at = |rank: usize| {
            let add = |sum: i64, &(atom, by): &(AtomId, i64)| {
                sum.wrapping_add(by.wrapping_mul(mesh.coordinate(atom, rank) as i64))
            };
            steps.iter().fold(first, add)
        };
        self.ranks.iter().enumerate().all(|(rank, &found)| found == at(rank)).then_some(steps)
    }

    /// The atoms along which ranks have other numbers.
    pub(super) fn varies(&self, mesh: &Mesh) -> Vec<AtomId> {
        let differs = |&atom: &AtomId| {
            (0..mesh.num_ranks()).any(|rank| {
                let lead = rank - mesh.coordinate(atom, rank) * mesh.atoms()[atom].stride;
                self.ranks[rank] != self.ranks[lead]
            })
        };
        (0..mesh.atoms().len()).filter(differs).collect()
    }

    /// How a value of these elements lies: as a shard of what counts a whole dimension, where it is one.
    pub(super) fn reading(&self, mesh: &Mesh, cause: Cause) -> Option<Reading> {
        if self.terms.iter().any(|term| matches!(term.index, Index::Of(_))) {
            return None;
        }
        let varies = self.varies(mesh);
        if varies.is_empty() {
            return Some(Reading::default());
        }
        if let Some(reading) = self.shard(mesh) {
            return Some(reading);
        }
        let mut reading = Reading::default();
        for atom in varies {
            reading.set(atom, Some((Part::Own(Why::Rank), cause)));
        }
        Some(reading)
    }

    /// The digits that make its terms and the numbers of ranks count a dimension.
    fn shard(&self, mesh: &Mesh) -> Option<Reading> {
        let mut steps = self.steps(mesh)?;
        let Index::Dim(dim) = self.terms.first()?.index else { return None };
        let mut terms = self.terms.clone();
        terms.sort_unstable_by_key(|term| (term.factor, term.size));
        let (mut whole, mut local) = (1_i64, 1_usize);
        let mut reading = Reading::default();
        let mut terms = terms.into_iter().peekable();
        loop {
            if let Some(at) = steps.iter().position(|&(_, by)| by == whole) {
                let (atom, _) = steps.remove(at);
                reading.digits.push(Placed { atom, dim, stride: local });
                whole = whole.checked_mul(mesh.atoms()[atom].size as i64)?;
                continue;
            }
            let fits = |term: &Term| term.index == Index::Dim(dim) && term.stride == local && term.factor == whole;
            let Some(term) = terms.next_if(|term| term.size == 1 || fits(term)) else { break };
            whole = whole.checked_mul(term.size as i64)?;
            local *= term.size;
        }
        (steps.is_empty() && terms.next().is_none()).then_some(reading)
    }
}
