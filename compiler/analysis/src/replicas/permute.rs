//! Permutations: the placement of a value after each rank got what another held.

use super::exchange::Exchange;
use super::state::{Part, Placed, Reading, Why};
use halite_tensor::SubAxisId;

impl Exchange<'_> {
    /// The readings after each rank got what another held; `sources` is the rank from which each got it.
    pub(super) fn permuted(&self, sources: &[usize]) -> Vec<Reading> {
        let moved = |&sub_axis: &SubAxisId| {
            let other = |(rank, &from): (usize, &usize)| {
                self.mesh.coordinate(sub_axis, rank) != self.mesh.coordinate(sub_axis, from)
            };
            sources.iter().enumerate().any(other)
        };
        let moved: Vec<SubAxisId> = (0..self.mesh.sub_axes().len()).filter(moved).collect();
        self.state.readings.iter().map(|reading| self.moved(reading, sources, &moved)).collect()
    }

    /// The reading of what ranks got from others, of other coordinates along the sub-axes that `moved`: the same value if its shards
    /// lie along other sub-axes then, or the value turned by so many shards. Terms of a sum are its terms on whichever rank.
    fn moved(&self, reading: &Reading, sources: &[usize], moved: &[SubAxisId]) -> Reading {
        let known = |&sub_axis: &SubAxisId| match reading.part(sub_axis) {
            Some((_, own @ Part::Partial(_), _)) => {
                moved.iter().all(|&other| reading.part(other).is_some_and(|(_, part, _)| part == own))
            }
            Some(_) => false,
            None => moved.iter().all(|&other| reading.part(other).is_none()),
        };
        if !moved.iter().all(known) {
            return self.lost(reading, moved);
        }
        if moved.iter().all(|&sub_axis| reading.digit(sub_axis).is_none()) {
            return reading.clone();
        }
        let found = self.elsewhere(reading, sources, moved);
        found
            .or_else(|| self.is_turned(reading, sources, moved).then(|| reading.clone()))
            .unwrap_or_else(|| self.lost(reading, moved))
    }

    /// A reading of which nothing is known along these sub-axes.
    fn lost(&self, reading: &Reading, sub_axes: &[SubAxisId]) -> Reading {
        let mut reading = reading.clone();
        for &sub_axis in sub_axes {
            reading.set(sub_axis, Some((Part::Varying(Why::Collective), self.cause)));
        }
        reading
    }

    /// The reading with the shards of the sub-axes that `moved` along those whose coordinates the sources have.
    fn elsewhere(&self, reading: &Reading, sources: &[usize], moved: &[SubAxisId]) -> Option<Reading> {
        let mut result = reading.clone();
        for digit in result.digits.iter_mut().filter(|digit| moved.contains(&digit.sub_axis)) {
            let is = |&sub_axis: &SubAxisId| {
                let coordinate = |(rank, &from): (usize, &usize)| {
                    self.mesh.coordinate(sub_axis, rank) == self.mesh.coordinate(digit.sub_axis, from)
                };
                sources.iter().enumerate().all(coordinate)
            };
            digit.sub_axis = moved.iter().copied().find(is)?;
        }
        Some(result)
    }

    /// Whether each rank got the shard that lies so many before its own, in a turn, along a dimension of which the sub-axes that `moved`
    /// are neighboring digits.
    fn is_turned(&self, reading: &Reading, sources: &[usize], moved: &[SubAxisId]) -> bool {
        let digits = || reading.digits.iter().enumerate().filter(|(_, digit)| moved.contains(&digit.sub_axis));
        let Some((first, lowest)) = digits().next() else { return false };
        let one = |(at, (index, digit)): (usize, (usize, &Placed))| {
            index == first + at && digit.dim == lowest.dim && digit.stride == lowest.stride
        };
        if !digits().enumerate().all(one) {
            return false;
        }
        let number = |rank: usize| {
            let add = |(number, size): (usize, usize), digit: &Placed| {
                let coordinate = self.mesh.coordinate(digit.sub_axis, rank);
                (number + coordinate * size, size * self.mesh.sub_axes()[digit.sub_axis].size)
            };
            digits().map(|(_, digit)| digit).fold((0, 1), add)
        };
        let turn = |rank: usize, from: usize| {
            let ((own, size), (other, _)) = (number(rank), number(from));
            (own + size - other) % size
        };
        let by = sources.first().map(|&from| turn(0, from));
        sources.iter().enumerate().all(|(rank, &from)| Some(turn(rank, from)) == by)
    }
}
