//! The ranks of a program as a grid.

use crate::groups::Groups;
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};

/// Ranks as a grid of named axes, the major one first: rank `r` of the axes `[data = 2, tensor = 4]` has the coordinates
/// `r / 4` and `r % 4`.
///
/// An axis is as many *sub-axes* as its size has prime factors, major first, so that a dimension that fewer ranks can share
/// than the axis has, such as 2 key heads on 4 ranks, is sharded by the first of them and replicated over the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Axis>", into = "Vec<Axis>")]
pub struct Mesh {
    axes: Vec<Axis>,
    sub_axes: Vec<SubAxis>,
}

/// An axis of a [`Mesh`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The name in recipes: `data`, `tensor`.
    pub name: String,
    /// The number of ranks along it.
    pub size: usize,
}

/// A prime factor of an axis, or several as one ([`Mesh::joined`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubAxis {
    /// The position of its axis.
    pub axis: usize,
    /// The number of ranks along it.
    pub size: usize,
    /// The distance of two ranks that are neighbours along it.
    pub stride: usize,
}

/// The position of a sub-axis in [`Mesh::sub_axes`].
pub type SubAxisId = usize;

impl Mesh {
    /// A grid of these axes, the major one first. Axes of one rank are left out.
    ///
    /// # Errors
    /// When a size is 0, a name stands twice, or the ranks do not fit in 31 bits.
    pub fn new(axes: impl IntoIterator<Item = (impl Into<String>, usize)>) -> Result<Self> {
        let axes = axes.into_iter().map(|(name, size)| Axis { name: name.into(), size });
        Self::try_from(axes.filter(|axis| axis.size != 1).collect::<Vec<_>>())
    }

    /// The mesh of the same ranks with neighbouring sub-axes of an axis as one, unless `apart` holds for the first of the two; and for
    /// each sub-axis the joined one that it is part of. Sizes of joined sub-axes are no primes then.
    #[must_use]
    pub fn joined(&self, apart: impl Fn(SubAxisId) -> bool) -> (Self, Vec<SubAxisId>) {
        let (mut sub_axes, mut became): (Vec<SubAxis>, Vec<SubAxisId>) =
            (Vec::new(), Vec::with_capacity(self.sub_axes.len()));
        for (id, &sub_axis) in self.sub_axes.iter().enumerate() {
            match sub_axes.last_mut().filter(|last| last.axis == sub_axis.axis && !apart(id - 1)) {
                Some(last) => *last = SubAxis { size: last.size * sub_axis.size, ..sub_axis },
                None => sub_axes.push(sub_axis),
            }
            became.push(sub_axes.len() - 1);
        }
        (Self { axes: self.axes.clone(), sub_axes }, became)
    }

    /// The axes, the major one first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The prime factors of the axes, the major one first.
    pub fn sub_axes(&self) -> &[SubAxis] {
        &self.sub_axes
    }

    /// The sub-axes of the axis of this name, the major one first; none where there is no such axis.
    pub fn sub_axes_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = SubAxisId> + 'a {
        self.sub_axes
            .iter()
            .enumerate()
            .filter(move |(_, sub_axis)| self.axes[sub_axis.axis].name == name)
            .map(|(id, _)| id)
    }

    /// The axes of these sub-axes, for people, with the number of ranks where these are not all of an axis: `data/2, tensor`.
    pub fn along(&self, sub_axes: impl IntoIterator<Item = SubAxisId>) -> String {
        let mut axes: Vec<(usize, usize)> = Vec::new();
        for SubAxis { axis, size, .. } in sub_axes.into_iter().map(|id| self.sub_axes[id]) {
            match axes.iter_mut().find(|(known, _)| *known == axis) {
                Some((_, ranks)) => *ranks *= size,
                None => axes.push((axis, size)),
            }
        }
        let name = |(axis, ranks): (usize, usize)| match &self.axes[axis] {
            Axis { name, size } if *size == ranks => name.clone(),
            Axis { name, .. } => format!("{name}/{ranks}"),
        };
        axes.into_iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// Number of ranks along the axis of this name, 1 where there is none.
    pub fn size(&self, name: &str) -> usize {
        self.axes.iter().find(|axis| axis.name == name).map_or(1, |axis| axis.size)
    }

    /// Number of ranks.
    pub fn num_ranks(&self) -> usize {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// The coordinate of a rank along a sub-axis.
    pub fn coordinate(&self, sub_axis: SubAxisId, rank: usize) -> usize {
        let SubAxis { size, stride, .. } = self.sub_axes[sub_axis];
        rank / stride % size
    }

    /// The groups of ranks that differ along these sub-axes alone, each in the order that the sub-axes count, the first being major.
    pub fn groups(&self, sub_axes: &[SubAxisId]) -> Groups {
        let step = |&sub_axis: &SubAxisId| (self.sub_axes[sub_axis].size, self.sub_axes[sub_axis].stride);
        Groups::grid(self.num_ranks(), sub_axes.iter().map(step))
    }
}

impl TryFrom<Vec<Axis>> for Mesh {
    type Error = Diagnostic;

    fn try_from(axes: Vec<Axis>) -> Result<Self> {
        let error = |message: String| Diagnostic::error(codes::SHAPE, message);
        let mut ranks = 1_usize;
        for (position, Axis { name, size }) in axes.iter().enumerate() {
            if axes[..position].iter().any(|axis| axis.name == *name) {
                return Err(error(format!("two axes of a mesh are called `{name}`")));
            }
            let product = ranks.checked_mul(*size).filter(|&product| (1..=i32::MAX as usize).contains(&product));
            ranks = product.ok_or_else(|| error(format!("a mesh with {size} ranks along `{name}` cannot be")))?;
        }
        let mut sub_axes = Vec::new();
        for (position, axis) in axes.iter().enumerate() {
            let mut below = ranks;
            for size in primes(axis.size) {
                below /= size;
                sub_axes.push(SubAxis { axis: position, size, stride: below });
            }
            ranks = below;
        }
        Ok(Self { axes, sub_axes })
    }
}

impl From<Mesh> for Vec<Axis> {
    fn from(mesh: Mesh) -> Self {
        mesh.axes
    }
}

/// The prime factors of a number, the smallest first.
fn primes(number: usize) -> impl Iterator<Item = usize> {
    let (mut rest, mut candidate) = (number, 2);
    std::iter::from_fn(move || {
        while candidate * candidate <= rest && !rest.is_multiple_of(candidate) {
            candidate += 1;
        }
        let prime = if candidate * candidate <= rest { candidate } else { rest };
        rest /= prime.max(1);
        (prime > 1).then_some(prime)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(axes: &[(&str, usize)]) -> Mesh {
        Mesh::new(axes.iter().copied()).unwrap()
    }

    #[test]
    fn axes_are_split_into_primes() {
        let mesh = mesh(&[("data", 6), ("one", 1), ("tensor", 4)]);
        let sub_axes: Vec<_> =
            mesh.sub_axes().iter().map(|sub_axis| (sub_axis.axis, sub_axis.size, sub_axis.stride)).collect();
        assert_eq!(sub_axes, [(0, 2, 12), (0, 3, 4), (1, 2, 2), (1, 2, 1)]);
        assert_eq!(mesh.num_ranks(), 24);
        assert_eq!(mesh.sub_axes_of("tensor").collect::<Vec<_>>(), [2, 3]);
        assert_eq!((mesh.size("data"), mesh.size("one")), (6, 1));
        assert_eq!((mesh.along([1, 0, 2]), mesh.along([])), ("data, tensor/2".to_owned(), String::new()));
        assert_eq!((0..4).map(|sub_axis| mesh.coordinate(sub_axis, 23)).collect::<Vec<_>>(), [1, 2, 1, 1]);
    }

    #[test]
    fn groups_hold_the_ranks_that_differ_along_them() {
        let mesh = mesh(&[("data", 2), ("tensor", 4)]);
        assert_eq!(mesh.groups(&[0]).lists(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(mesh.groups(&[1, 2]).lists(), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(mesh.groups(&[2, 1]).lists(), [[0, 2, 1, 3], [4, 6, 5, 7]]);
        assert_eq!(mesh.groups(&[]).lists(), [[0], [1], [2], [3], [4], [5], [6], [7]]);
    }

    #[test]
    fn what_is_no_mesh_is_refused() {
        let wrong = |axes: &[(&str, usize)]| Mesh::new(axes.iter().copied()).unwrap_err().message().to_owned();
        assert_eq!(wrong(&[("data", 0)]), "a mesh with 0 ranks along `data` cannot be");
        assert_eq!(wrong(&[("data", 2), ("data", 4)]), "two axes of a mesh are called `data`");
        assert!(wrong(&[("data", 1 << 20), ("tensor", 1 << 20)]).contains("cannot be"));
    }
}
