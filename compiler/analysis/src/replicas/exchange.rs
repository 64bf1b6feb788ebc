//! Collectives: the placement of a value after ranks have exchanged it.

use super::free::{Free, Stretches, holds};
use super::state::{Cause, Part, Placed, Reading, State, Why};
use halite_ir::ops::Reduction;
use halite_tensor::{Mesh, Shape, SubAxisId};

/// A fault of a collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Groups are not those of any sub-axes.
    Groups,
    /// All ranks hold the same already; a sum makes a multiple of it.
    Twice(SubAxisId),
    /// Shards are added up.
    Shards(SubAxisId),
    /// Terms of one reduction are combined by another.
    Kind(SubAxisId),
    /// The parts that are combined or concatenated are not known.
    Unknown(SubAxisId, Why, Cause),
    /// The parts that are concatenated are no shards of this dimension, or not in this order.
    Order(SubAxisId),
}

/// A value that ranks exchange.
pub(super) struct Exchange<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) state: &'a State,
    pub(super) shape: &'a Shape,
    pub(super) cause: Cause,
}

impl Exchange<'_> {
    /// The results of `f` for the readings that are not at fault. If all are, returns the fault of the first.
    fn each(&self, f: impl Fn(&Reading) -> Result<Reading, Fault>) -> Result<Vec<Reading>, Fault> {
        self.all(|reading| f(reading).map(|reading| vec![reading]))
    }

    /// The same where `f` gives several readings.
    fn all(&self, f: impl Fn(&Reading) -> Result<Vec<Reading>, Fault>) -> Result<Vec<Reading>, Fault> {
        let (mut fine, mut faults) = (Vec::new(), Vec::new());
        for reading in self.state.readings.iter() {
            match f(reading) {
                Ok(readings) => fine.extend(readings),
                Err(fault) => faults.push(fault),
            }
        }
        match faults.first() {
            Some(&fault) if fine.is_empty() => Err(fault),
            _ => Ok(fine),
        }
    }

    pub(super) fn all_reduce(&self, kind: Reduction, sub_axes: &[SubAxisId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let mut reading = reading.clone();
            for &sub_axis in sub_axes {
                self.reducible(&reading, kind, sub_axis)?;
                reading.set(sub_axis, None);
            }
            Ok(reading)
        })
    }

    /// The readings in which all ranks along these sub-axes hold the same.
    pub(super) fn same_along(&self, sub_axes: &[SubAxisId]) -> Vec<Reading> {
        let is_same = |reading: &&Reading| sub_axes.iter().all(|&sub_axis| reading.is_same_along(sub_axis));
        self.state.readings.iter().filter(is_same).cloned().collect()
    }

    /// Checks that combining along a sub-axis gives the value.
    fn reducible(&self, reading: &Reading, kind: Reduction, sub_axis: SubAxisId) -> Result<(), Fault> {
        if self.state.zero {
            return Ok(());
        }
        if reading.digit(sub_axis).is_some() {
            return Err(Fault::Shards(sub_axis));
        }
        match reading.part(sub_axis) {
            None if kind == Reduction::Sum => Err(Fault::Twice(sub_axis)),
            None => Ok(()),
            Some((_, Part::Partial(own), _)) if *own == kind => Ok(()),
            Some((_, Part::Partial(_), _)) => Err(Fault::Kind(sub_axis)),
            Some((_, part, cause)) => Err(Fault::Unknown(sub_axis, why(part), *cause)),
        }
    }

    pub(super) fn reduce_scatter(&self, dim: usize, sub_axes: &[SubAxisId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let (mut reading, mut size) = (reading.clone(), self.shape[dim]);
            for &sub_axis in sub_axes {
                self.reducible(&reading, Reduction::Sum, sub_axis)?;
                size = self.keep(&mut reading, dim, size, sub_axis);
            }
            Ok(reading)
        })
    }

    pub(super) fn all_gather(&self, dim: usize, sub_axes: &[SubAxisId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let (mut reading, mut size) = (reading.clone(), self.shape[dim]);
            for &sub_axis in sub_axes.iter().rev() {
                size = self.join(&mut reading, dim, size, sub_axis)?;
            }
            Ok(reading)
        })
    }

    pub(super) fn all_to_all(
        &self,
        split: usize,
        concat: usize,
        sub_axes: &[SubAxisId],
    ) -> Result<Vec<Reading>, Fault> {
        if split == concat {
            return self.all(|reading| self.swapped(reading, split, sub_axes));
        }
        self.each(|reading| {
            let (mut reading, mut size) = (reading.clone(), self.shape[concat]);
            for &sub_axis in sub_axes.iter().rev() {
                size = self.join(&mut reading, concat, size, sub_axis)?;
            }
            let mut size = self.shape[split];
            for &sub_axis in sub_axes {
                size = self.keep(&mut reading, split, size, sub_axis);
            }
            Ok(reading)
        })
    }

    /// The reading after ranks exchanged blocks of a dimension that keeps its size: the number of the block became that of the rank, and
    /// the number of the rank, in whichever dimension it lay, that of the block.
    fn swapped(&self, reading: &Reading, dim: usize, sub_axes: &[SubAxisId]) -> Result<Vec<Reading>, Fault> {
        let (Some(&first), size) = (sub_axes.first(), self.shape[dim]) else { return Ok(vec![reading.clone()]) };
        let blocks: usize = sub_axes.iter().map(|&sub_axis| self.mesh.sub_axes()[sub_axis].size).product();
        let (block, mut result) = (size / blocks, reading.clone());
        for &sub_axis in sub_axes {
            if let Some((_, part, cause)) = reading.part(sub_axis) {
                return Err(Fault::Unknown(sub_axis, why(part), *cause));
            }
            reading.digit(sub_axis).ok_or(Fault::Order(sub_axis))?;
            result.set(sub_axis, None);
        }
        let is_own = |digit: &&Placed| sub_axes.contains(&digit.sub_axis);
        let own = reading.of_dim(dim).filter(is_own).count();
        let lowest = |stride: usize| {
            let there = reading.of_dim(dim).filter(|digit| digit.stride == stride).map(|digit| digit.sub_axis);
            there.take(sub_axes.len()).eq(sub_axes.iter().rev().copied())
        };
        // The rank's number lies in other dimensions, right above the blocks, or right below them, where an exchange is taken back.
        let stride = match own {
            0 => Some(block),
            _ if own == sub_axes.len() && lowest(size) => Some(block),
            _ if own == sub_axes.len() && lowest(block) => Some(size),
            _ => None,
        };
        let crossed = |digit: &Placed| digit.stride < size && !block.is_multiple_of(digit.stride);
        let beside = |digit: &Placed| crossed(digit) || (stride == Some(size) && digit.stride == block);
        let Some(stride) = stride.filter(|_| !result.of_dim(dim).any(beside)) else {
            return Err(Fault::Order(first));
        };
        let placed = |dim: usize, stride: usize, above: &dyn Fn(&Placed) -> bool| {
            let mut result = result.clone();
            let at = result.digits.iter().position(above).unwrap_or(result.digits.len());
            result.digits.insert_many(at, sub_axes.iter().rev().map(|&sub_axis| Placed { sub_axis, dim, stride }));
            result
        };
        let mut all = vec![placed(dim, stride, &|digit| match digit.dim == dim {
            true => digit.stride > stride || digit.stride == size,
            false => digit.dim < dim,
        })];
        // Between two dimensions it lies in either: which one, a transpose says.
        if let Some(&next) = self.shape.get(dim + 1).filter(|_| stride == 1) {
            all.push(placed(dim + 1, next, &|digit| digit.dim <= dim));
        }
        Ok(all)
    }

    /// Each rank along a sub-axis keeps its block of a dimension that all hold. Returns the size of the block.
    pub(super) fn keep(&self, reading: &mut Reading, dim: usize, size: usize, sub_axis: SubAxisId) -> usize {
        let left = size / self.mesh.sub_axes()[sub_axis].size;
        reading.set(sub_axis, None);
        let crossed = |digit: &Placed| digit.dim == dim && digit.stride < size && !left.is_multiple_of(digit.stride);
        let lost: Vec<SubAxisId> =
            reading.digits.iter().filter(|digit| crossed(digit)).map(|digit| digit.sub_axis).collect();
        for sub_axis in lost {
            reading.set(sub_axis, Some((Part::Varying(Why::Cut), self.cause)));
        }
        let above = |digit: &Placed| digit.dim < dim || (digit.dim == dim && digit.stride >= size);
        let at = reading.digits.iter().position(above).unwrap_or(reading.digits.len());
        for digit in reading.digits[at..].iter_mut().filter(|digit| digit.dim == dim) {
            digit.stride = left;
        }
        reading.digits.insert(at, Placed { sub_axis, dim, stride: left });
        left
    }

    /// Concatenates the shards along a sub-axis. Returns the size of the result.
    fn join(&self, reading: &mut Reading, dim: usize, size: usize, sub_axis: SubAxisId) -> Result<usize, Fault> {
        let parts = self.mesh.sub_axes()[sub_axis].size;
        if let Some((_, part, cause)) = reading.part(sub_axis) {
            return Err(Fault::Unknown(sub_axis, why(part), *cause));
        }
        let at = reading.digits.iter().position(|digit| digit.sub_axis == sub_axis);
        let Some(at) = at.filter(|&at| reading.digits[at].dim == dim && reading.digits[at].stride == size) else {
            let repeats = self.state.free.get(dim).is_some_and(|free| holds(free, self.shape[dim]));
            return if at.is_none() && repeats { Ok(size * parts) } else { Err(Fault::Order(sub_axis)) };
        };
        reading.digits.remove(at);
        for digit in reading.digits[at..].iter_mut().filter(|digit| digit.dim == dim) {
            digit.stride *= parts;
        }
        Ok(size * parts)
    }
}

/// The reason why a part of a value cannot be combined.
fn why(part: &Part) -> Why {
    match part {
        Part::Varying(why) => *why,
        Part::OwnerByIndex(..) | Part::MaskedOwner(_) => Why::Index,
        Part::Partial(_) => Why::Unlike,
    }
}

/// Along what a value repeats itself when a dimension of it has another size.
pub(super) fn resized(free: &Free, shape: &Shape, result: &Shape) -> Free {
    let one = |(dim, stretches): (usize, &Stretches)| match shape[dim] == result[dim] {
        true => stretches.clone(),
        false if stretches.contains(&(1, shape[dim])) => Stretches::from_slice(&[(1, result[dim])]),
        false => Stretches::new(),
    };
    free.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests;
