//! Atoms that lie in one place wherever they shard anything, which need no readings in which they part.

use super::state::Placed;
use halite_ir::{Function, Layout, Param, ParamRole};
use halite_tensor::{Mesh, Sharding};

/// For each atom, whether it and the next stay together when a place is chosen for them.
///
/// Without bonds the digits of three atoms on a dimension of size 1 leave four readings beside another such dimension, which multiply with
/// those of other axes; with them they leave two.
pub(super) struct Bonds(Vec<bool>);

impl Bonds {
    /// No atoms stay together.
    pub(super) fn none(mesh: &Mesh) -> Self {
        Self(vec![false; mesh.atoms().len()])
    }

    /// Those of one axis such that what is fed and each weight is sharded by both or by neither. What shards state alone, as ZeRO does, says
    /// nothing of how activations lie.
    pub(super) fn of(layout: &Layout, entry: &Function) -> Self {
        let atoms = layout.mesh.atoms();
        let is_state = |param: &&Param| matches!(param.role, ParamRole::State(_));
        let params = entry.params.iter().filter(|param| !is_state(param)).filter_map(|param| layout.of_param(param));
        let shardings: Vec<&Sharding> = params.collect();
        let both = |sharding: &&Sharding, atom| sharding.find(atom).is_some() == sharding.find(atom + 1).is_some();
        let holds = |atom: usize| {
            let next = atoms.get(atom + 1);
            next.is_some_and(|next| next.axis == atoms[atom].axis) && shardings.iter().all(|own| both(own, atom))
        };
        Self((0..atoms.len()).map(holds).collect())
    }

    pub(super) fn is_none(&self) -> bool {
        !self.0.contains(&true)
    }

    /// For each digit whether it goes where the one before it does.
    pub(super) fn follows(&self, digits: &[Placed]) -> Vec<bool> {
        let follows = |(at, next): (usize, &Placed)| {
            let Some(last) = at.checked_sub(1).map(|at| digits[at]) else { return false };
            let neighbours = last.atom.abs_diff(next.atom) == 1 && self.0[last.atom.min(next.atom)];
            neighbours && (last.dim, last.stride) == (next.dim, next.stride)
        };
        digits.iter().enumerate().map(follows).collect()
    }
}
