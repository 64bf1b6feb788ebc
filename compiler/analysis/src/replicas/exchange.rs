//! Collectives: what ranks hold after they have exchanged what they held.

use super::free::{Free, Stretches, holds};
use super::state::{Cause, Part, Placed, Reading, State, Why};
use halite_ir::ops::Reduction;
use halite_tensor::{AtomId, Mesh, Shape};

/// What is wrong with a collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Groups are not those of any atoms.
    Groups,
    /// All ranks hold the same already, of which a sum makes a multiple.
    Twice(AtomId),
    /// Shards are added up.
    Shards(AtomId),
    /// Terms of a sum are combined otherwise.
    Kind(AtomId),
    /// What is combined or put together is not known.
    Unknown(AtomId, Why, Cause),
    /// What is put together are no shards of this dimension, or not in this order.
    Order(AtomId),
}

/// A value that ranks exchange.
pub(super) struct Exchange<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) state: &'a State,
    pub(super) shape: &'a Shape,
    pub(super) cause: Cause,
}

impl Exchange<'_> {
    /// What each reading gives, where any of them is not at fault; else the fault of the first.
    fn each(&self, f: impl Fn(&Reading) -> Result<Reading, Fault>) -> Result<Vec<Reading>, Fault> {
        let (mut fine, mut faults) = (Vec::new(), Vec::new());
        for reading in self.state.readings.iter() {
            match f(reading) {
                Ok(reading) => fine.push(reading),
                Err(fault) => faults.push(fault),
            }
        }
        match faults.first() {
            Some(&fault) if fine.is_empty() => Err(fault),
            _ => Ok(fine),
        }
    }

    pub(super) fn all_reduce(&self, kind: Reduction, atoms: &[AtomId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let mut reading = reading.clone();
            for &atom in atoms {
                self.reducible(&reading, kind, atom)?;
                reading.set(atom, None);
            }
            Ok(reading)
        })
    }

    /// Whether combining along an atom gives the value.
    fn reducible(&self, reading: &Reading, kind: Reduction, atom: AtomId) -> Result<(), Fault> {
        if self.state.zero {
            return Ok(());
        }
        if reading.digit(atom).is_some() {
            return Err(Fault::Shards(atom));
        }
        match reading.part(atom) {
            None if kind == Reduction::Sum => Err(Fault::Twice(atom)),
            None => Ok(()),
            Some((_, Part::Terms(own), _)) if *own == kind => Ok(()),
            Some((_, Part::Terms(_), _)) => Err(Fault::Kind(atom)),
            Some((_, part, cause)) => Err(Fault::Unknown(atom, why(part), *cause)),
        }
    }

    pub(super) fn reduce_scatter(&self, dim: usize, atoms: &[AtomId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let (mut reading, mut size) = (reading.clone(), self.shape[dim]);
            for &atom in atoms {
                self.reducible(&reading, Reduction::Sum, atom)?;
                size = self.keep(&mut reading, dim, size, atom);
            }
            Ok(reading)
        })
    }

    pub(super) fn all_gather(&self, dim: usize, atoms: &[AtomId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let (mut reading, mut size) = (reading.clone(), self.shape[dim]);
            for &atom in atoms.iter().rev() {
                size = self.join(&mut reading, dim, size, atom)?;
            }
            Ok(reading)
        })
    }

    pub(super) fn all_to_all(&self, split: usize, concat: usize, atoms: &[AtomId]) -> Result<Vec<Reading>, Fault> {
        self.each(|reading| {
            let (mut reading, mut size) = (reading.clone(), self.shape[concat]);
            for &atom in atoms.iter().rev() {
                size = self.join(&mut reading, concat, size, atom)?;
            }
            let mut size = if split == concat { size } else { self.shape[split] };
            for &atom in atoms {
                size = self.keep(&mut reading, split, size, atom);
            }
            Ok(reading)
        })
    }

    /// Each rank along an atom keeps its block of what all hold of a dimension; the size of the block.
    pub(super) fn keep(&self, reading: &mut Reading, dim: usize, size: usize, atom: AtomId) -> usize {
        let left = size / self.mesh.atoms()[atom].size;
        reading.set(atom, None);
        let crossed = |digit: &Placed| digit.dim == dim && digit.stride < size && !left.is_multiple_of(digit.stride);
        let lost: Vec<AtomId> = reading.digits.iter().filter(|digit| crossed(digit)).map(|digit| digit.atom).collect();
        for atom in lost {
            reading.set(atom, Some((Part::Own(Why::Cut), self.cause)));
        }
        let above = |digit: &Placed| digit.dim < dim || (digit.dim == dim && digit.stride >= size);
        let at = reading.digits.iter().position(above).unwrap_or(reading.digits.len());
        for digit in reading.digits[at..].iter_mut().filter(|digit| digit.dim == dim) {
            digit.stride = left;
        }
        reading.digits.insert(at, Placed { atom, dim, stride: left });
        left
    }

    /// The shards along an atom follow one another; the size of what that gives.
    fn join(&self, reading: &mut Reading, dim: usize, size: usize, atom: AtomId) -> Result<usize, Fault> {
        let parts = self.mesh.atoms()[atom].size;
        if let Some((_, part, cause)) = reading.part(atom) {
            return Err(Fault::Unknown(atom, why(part), *cause));
        }
        let at = reading.digits.iter().position(|digit| digit.atom == atom);
        let Some(at) = at.filter(|&at| reading.digits[at].dim == dim && reading.digits[at].stride == size) else {
            let repeats = self.state.free.get(dim).is_some_and(|free| holds(free, self.shape[dim]));
            return if at.is_none() && repeats { Ok(size * parts) } else { Err(Fault::Order(atom)) };
        };
        reading.digits.remove(at);
        for digit in reading.digits[at..].iter_mut().filter(|digit| digit.dim == dim) {
            digit.stride *= parts;
        }
        Ok(size * parts)
    }
}

/// Why a part of a value is none that could be combined.
fn why(part: &Part) -> Why {
    match part {
        Part::Own(why) => *why,
        Part::Picked(..) | Part::Kept(_) => Why::Index,
        Part::Terms(_) => Why::Unlike,
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
