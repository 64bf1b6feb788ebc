//! A number for each rank.

use halite_tensor::{AtomId, Mesh};
use std::rc::Rc;

/// A number for each rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum PerRank {
    /// The same for all.
    All(i64),
    /// Others for some: on a mesh of thousands of ranks this costs, and few values are so.
    Each(Rc<[i64]>),
}

impl PerRank {
    /// The number of the rank itself.
    pub(super) fn rank(mesh: &Mesh) -> Self {
        Self::of((0..mesh.num_ranks() as i64).collect())
    }

    fn of(ranks: Rc<[i64]>) -> Self {
        match ranks.first() {
            Some(&first) if ranks.iter().all(|&rank| rank == first) => Self::All(first),
            _ => Self::Each(ranks),
        }
    }

    /// The number, where all have the same.
    pub(super) fn same(&self) -> Option<i64> {
        if let Self::All(number) = self { Some(*number) } else { None }
    }

    /// The number of a rank.
    pub(super) fn at(&self, rank: usize) -> i64 {
        match self {
            Self::All(number) => *number,
            Self::Each(ranks) => ranks[rank],
        }
    }

    /// What these numbers are, once where all have the same.
    pub(super) fn distinct(&self) -> &[i64] {
        match self {
            Self::All(number) => std::slice::from_ref(number),
            Self::Each(ranks) => ranks,
        }
    }

    /// The numbers made into others; `None` where one cannot be.
    pub(super) fn map(&self, f: impl Fn(i64) -> Option<i64>) -> Option<Self> {
        match self {
            Self::All(number) => f(*number).map(Self::All),
            Self::Each(ranks) => ranks.iter().map(|&rank| f(rank)).collect::<Option<_>>().map(Self::of),
        }
    }

    /// What two make rank by rank; `None` where one rank's cannot be made.
    pub(super) fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Self> {
        match (self, other) {
            (Self::All(x), _) => other.map(|y| f(*x, y)),
            (_, Self::All(y)) => self.map(|x| f(x, *y)),
            (Self::Each(x), Self::Each(y)) => {
                x.iter().zip(y.iter()).map(|(&x, &y)| f(x, y)).collect::<Option<_>>().map(Self::of)
            }
        }
    }

    /// Along which atoms it counts, and by how much; `None` where it is no sum over these.
    pub(super) fn steps(&self, mesh: &Mesh) -> Option<Vec<(AtomId, i64)>> {
        let Self::Each(ranks) = self else { return Some(Vec::new()) };
        let first = *ranks.first()?;
        let step = |atom: AtomId| (atom, ranks[mesh.atoms()[atom].stride].wrapping_sub(first));
        let steps: Vec<_> = (0..mesh.atoms().len()).map(step).filter(|step| step.1 != 0).collect();
        let at = |rank: usize| {
            let add = |sum: i64, &(atom, by): &(AtomId, i64)| {
                sum.wrapping_add(by.wrapping_mul(mesh.coordinate(atom, rank) as i64))
            };
            steps.iter().fold(first, add)
        };
        ranks.iter().enumerate().all(|(rank, &found)| found == at(rank)).then_some(steps)
    }

    /// The atoms along which ranks have other numbers.
    pub(super) fn varies(&self, mesh: &Mesh) -> Vec<AtomId> {
        let Self::Each(ranks) = self else { return Vec::new() };
        let differs = |&atom: &AtomId| {
            (0..mesh.num_ranks()).any(|rank| {
                let lead = rank - mesh.coordinate(atom, rank) * mesh.atoms()[atom].stride;
                ranks[rank] != ranks[lead]
            })
        };
        (0..mesh.atoms().len()).filter(differs).collect()
    }
}
