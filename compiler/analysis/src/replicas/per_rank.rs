//! A number for each rank.

use halite_tensor::{Mesh, SubAxisId};
use smallvec::SmallVec;
use std::rc::Rc;

/// A number for each rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum PerRank {
    /// The same for all.
    All(i64),
    /// A sum of coordinates: what places along axes are, on any number of ranks.
    Sum(Coordinates),
    /// Others for some: on a mesh of thousands of ranks this costs, and few values are so.
    Each(Rc<[i64]>),
}

/// A constant and coordinates along some sub-axes, each by a factor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Coordinates {
    first: i64,
    /// At least one, of factors other than 0, in the order of sub-axes.
    steps: SmallVec<[Step; 2]>,
    ranks: usize,
}

/// The coordinate of a rank along a sub-axis, times a factor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step {
    sub_axis: SubAxisId,
    /// Those of the sub-axis.
    stride: usize,
    size: usize,
    factor: i64,
}

impl Step {
    fn at(&self, rank: usize) -> i64 {
        (rank / self.stride % self.size) as i64 * self.factor
    }

    /// The number at the last coordinate; `None` where an `i64` does not hold it.
    fn reach(&self) -> Option<i64> {
        self.factor.checked_mul(i64::try_from(self.size).ok()? - 1)
    }
}

impl Coordinates {
    /// The sum, where no rank's is beyond what a number holds.
    fn of(first: i64, mut steps: SmallVec<[Step; 2]>, ranks: usize) -> Option<PerRank> {
        steps.retain(|step| step.factor != 0 && step.size > 1);
        steps.sort_unstable_by_key(|step| step.sub_axis);
        if steps.is_empty() {
            return Some(PerRank::All(first));
        }
        let found = Self { first, steps, ranks };
        found.ends()?;
        Some(PerRank::Sum(found))
    }

    /// The least and the most of all ranks.
    fn ends(&self) -> Option<(i64, i64)> {
        self.steps.iter().try_fold((self.first, self.first), |(least, most), step| {
            let reach = step.reach()?;
            Some((least.checked_add(reach.min(0))?, most.checked_add(reach.max(0))?))
        })
    }

    fn at(&self, rank: usize) -> i64 {
        self.steps.iter().fold(self.first, |sum, step| sum + step.at(rank))
    }

    fn plus(&self, other: &Self) -> Option<PerRank> {
        let mut steps = self.steps.clone();
        for step in &other.steps {
            match steps.iter_mut().find(|own| own.sub_axis == step.sub_axis) {
                Some(own) => own.factor = own.factor.checked_add(step.factor)?,
                None => steps.push(*step),
            }
        }
        Self::of(self.first.checked_add(other.first)?, steps, self.ranks)
    }

    fn scaled(&self, by: i64) -> Option<PerRank> {
        let scaled = |step: &Step| Some(Step { factor: step.factor.checked_mul(by)?, ..*step });
        let steps: Option<_> = self.steps.iter().map(scaled).collect();
        Self::of(self.first.checked_mul(by)?, steps?, self.ranks)
    }

    /// The quotient and the remainder by a positive number, where no coordinate carries from one into the other.
    fn divided(&self, by: i64) -> Option<(PerRank, PerRank)> {
        if self.ends()?.0 < 0 || self.steps.iter().any(|step| step.factor < 0) {
            return None;
        }
        let (high, low): (SmallVec<[Step; 2]>, SmallVec<[Step; 2]>) =
            self.steps.iter().copied().partition(|step| step.factor % by == 0);
        let reach = low.iter().try_fold(self.first % by, |sum, step| sum.checked_add(step.reach()?))?;
        if reach >= by {
            return None;
        }
        let high = high.into_iter().map(|step| Step { factor: step.factor / by, ..step }).collect();
        Some((Self::of(self.first / by, high, self.ranks)?, Self::of(self.first % by, low, self.ranks)?))
    }
}

impl PerRank {
    /// The number of the rank itself.
    pub(super) fn rank(mesh: &Mesh) -> Self {
        let step = |(sub_axis, own): (SubAxisId, &halite_tensor::SubAxis)| Step {
            sub_axis,
            stride: own.stride,
            size: own.size,
            factor: own.stride as i64,
        };
        let sum = Coordinates::of(0, mesh.sub_axes().iter().enumerate().map(step).collect(), mesh.num_ranks());
        sum.unwrap_or_else(|| Self::of((0..mesh.num_ranks() as i64).collect()))
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
            Self::Sum(sum) => sum.at(rank),
            Self::Each(ranks) => ranks[rank],
        }
    }

    /// The numbers of all ranks; where all have the same, that one.
    fn listed(&self) -> Rc<[i64]> {
        match self {
            Self::All(number) => [*number].into(),
            Self::Sum(sum) => (0..sum.ranks).map(|rank| sum.at(rank)).collect(),
            Self::Each(ranks) => ranks.clone(),
        }
    }

    /// The least and the most of all ranks.
    pub(super) fn ends(&self) -> (i64, i64) {
        match self {
            Self::All(number) => (*number, *number),
            Self::Sum(sum) => sum.ends().unwrap_or((i64::MIN, i64::MAX)),
            Self::Each(ranks) => {
                (ranks.iter().copied().min().unwrap_or(i64::MIN), ranks.iter().copied().max().unwrap_or(i64::MAX))
            }
        }
    }

    /// The number of ranks that have another number than 0.
    pub(super) fn count_nonzero(&self, mesh: &Mesh) -> usize {
        match self {
            Self::All(number) => {
                if *number == 0 {
                    0
                } else {
                    mesh.num_ranks()
                }
            }
            _ => self.listed().iter().filter(|&&rank| rank != 0).count(),
        }
    }

    /// The numbers made into others; `None` where one cannot be.
    pub(super) fn map(&self, f: impl Fn(i64) -> Option<i64>) -> Option<Self> {
        match self {
            Self::All(number) => f(*number).map(Self::All),
            _ => self.listed().iter().map(|&rank| f(rank)).collect::<Option<_>>().map(Self::of),
        }
    }

    /// Combines two rank by rank; `None` where `f` gives none for a rank.
    pub(super) fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Self> {
        match (self, other) {
            (Self::All(x), _) => other.map(|y| f(*x, y)),
            (_, Self::All(y)) => self.map(|x| f(x, *y)),
            _ => {
                let (x, y) = (self.listed(), other.listed());
                x.iter().zip(y.iter()).map(|(&x, &y)| f(x, y)).collect::<Option<_>>().map(Self::of)
            }
        }
    }

    /// For each rank the number that its choice names: that of `x` where the choice is not 0, that of `y` elsewhere.
    pub(super) fn chosen(choice: &Self, x: &Self, y: &Self) -> Self {
        let choices = choice.listed();
        Self::of((0..choices.len()).map(|rank| if choices[rank] == 0 { y.at(rank) } else { x.at(rank) }).collect())
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Sum(x), Self::Sum(y)) => x.plus(y),
            (Self::Sum(sum), Self::All(by)) | (Self::All(by), Self::Sum(sum)) => {
                Coordinates::of(sum.first.checked_add(*by)?, sum.steps.clone(), sum.ranks)
            }
            _ => self.zip(other, i64::checked_add),
        }
    }

    pub(super) fn scaled(&self, by: i64) -> Option<Self> {
        if let Self::Sum(sum) = self { sum.scaled(by) } else { self.map(|rank| rank.checked_mul(by)) }
    }

    /// The quotients and the remainders.
    pub(super) fn divided(&self, other: &Self) -> Option<(Self, Self)> {
        if let (Self::Sum(sum), Some(by @ 1..)) = (self, other.same())
            && let Some(parts) = sum.divided(by)
        {
            return Some(parts);
        }
        Some((self.zip(other, i64::checked_div)?, self.zip(other, i64::checked_rem)?))
    }

    /// Along which sub-axes it counts, and by how much; `None` where it is no sum over these.
    pub(super) fn steps(&self, mesh: &Mesh) -> Option<Vec<(SubAxisId, i64)>> {
        let ranks = match self {
            Self::All(_) => return Some(Vec::new()),
            Self::Sum(sum) => return Some(sum.steps.iter().map(|step| (step.sub_axis, step.factor)).collect()),
            Self::Each(ranks) => ranks,
        };
        let first = *ranks.first()?;
        let step = |sub_axis: SubAxisId| (sub_axis, ranks[mesh.sub_axes()[sub_axis].stride].wrapping_sub(first));
        let steps: Vec<_> = (0..mesh.sub_axes().len()).map(step).filter(|step| step.1 != 0).collect();
        let at = |rank: usize| {
            let add = |sum: i64, &(sub_axis, by): &(SubAxisId, i64)| {
                sum.wrapping_add(by.wrapping_mul(mesh.coordinate(sub_axis, rank) as i64))
            };
            steps.iter().fold(first, add)
        };
        ranks.iter().enumerate().all(|(rank, &found)| found == at(rank)).then_some(steps)
    }

    /// The sub-axes along which ranks have other numbers.
    pub(super) fn varies(&self, mesh: &Mesh) -> Vec<SubAxisId> {
        let ranks = match self {
            Self::All(_) => return Vec::new(),
            Self::Sum(sum) => return sum.steps.iter().map(|step| step.sub_axis).collect(),
            Self::Each(ranks) => ranks,
        };
        let differs = |&sub_axis: &SubAxisId| {
            (0..mesh.num_ranks()).any(|rank| {
                let lead = rank - mesh.coordinate(sub_axis, rank) * mesh.sub_axes()[sub_axis].stride;
                ranks[rank] != ranks[lead]
            })
        };
        (0..mesh.sub_axes().len()).filter(differs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same numbers, one for each rank.
    fn each(number: &PerRank, mesh: &Mesh) -> Vec<i64> {
        (0..mesh.num_ranks()).map(|rank| number.at(rank)).collect()
    }

    #[test]
    fn sums_of_coordinates_are_what_tables_are() {
        let mesh = Mesh::new([("data", 6), ("tensor", 4)]).unwrap();
        let rank = PerRank::rank(&mesh);
        let table = PerRank::of((0..24).collect());
        assert_eq!(each(&rank, &mesh), each(&table, &mesh));
        let five = PerRank::All(5);
        type Make<'a> = dyn Fn(&PerRank) -> Option<PerRank> + 'a;
        let makes: [&Make<'_>; 7] = [
            &|rank| Some(rank.divided(&PerRank::All(4))?.0),
            &|rank| Some(rank.divided(&PerRank::All(4))?.1),
            &|rank| Some(rank.divided(&PerRank::All(3))?.1),
            &|rank| rank.divided(&PerRank::All(4))?.0.scaled(-7)?.plus(&rank.divided(&PerRank::All(4))?.1),
            &|rank| rank.plus(&five)?.divided(&PerRank::All(4)).map(|parts| parts.0),
            &|rank| rank.scaled(-1)?.plus(rank),
            &|rank| rank.scaled(i64::MAX / 8),
        ];
        for (at, make) in makes.iter().enumerate() {
            let (sum, expected) = (make(&rank), make(&table));
            let all = |number: &Option<PerRank>| number.as_ref().map(|number| each(number, &mesh));
            assert_eq!(all(&sum), all(&expected), "{at}");
            let steps = |number: &Option<PerRank>| {
                number.as_ref().map(|number| (number.steps(&mesh), number.varies(&mesh), number.ends()))
            };
            assert_eq!(steps(&sum), steps(&expected), "{at}");
        }
    }

    #[test]
    fn a_million_ranks_are_no_table() {
        let mesh = Mesh::new([("data", 250_000), ("tensor", 4)]).unwrap();
        let place = PerRank::rank(&mesh).divided(&PerRank::All(4)).unwrap().0.scaled(1024).unwrap();
        assert!(matches!(place, PerRank::Sum(_)), "{place:?}");
        assert_eq!((place.at(999_999), place.ends()), (249_999 * 1024, (0, 249_999 * 1024)));
    }
}
