//! Sub-axes that lie in one place wherever they shard anything, which need no readings in which they part.

use super::state::Placed;
use halite_ir::{Function, Layout, Param, ParamRole};
use halite_tensor::{Mesh, Sharding};

/// For each sub-axis, whether it and the next stay together when a place is chosen for them.
///
/// Without bonds the digits of three sub-axes on a dimension of size 1 leave four readings beside another such dimension, which multiply with
/// those of other axes; with them they leave two.
pub(super) struct Bonds(Vec<bool>);

impl Bonds {
    /// No sub-axes stay together.
    pub(super) fn none(mesh: &Mesh) -> Self {
        Self(vec![false; mesh.sub_axes().len()])
    }

    /// Those of one axis such that what is fed and each weight is sharded by both or by neither. What shards state alone, as ZeRO does, says
    /// nothing of how activations lie.
    pub(super) fn of(layout: &Layout, entry: &Function) -> Self {
        let sub_axes = layout.mesh.sub_axes();
        let is_state = |param: &&Param| matches!(param.role, ParamRole::State(_));
        let params = entry.params.iter().filter(|param| !is_state(param)).filter_map(|param| layout.of_param(param));
        let shardings: Vec<&Sharding> = params.collect();
        let both =
            |sharding: &&Sharding, sub_axis| sharding.find(sub_axis).is_some() == sharding.find(sub_axis + 1).is_some();
        let holds = |sub_axis: usize| {
            let next = sub_axes.get(sub_axis + 1);
            next.is_some_and(|next| next.axis == sub_axes[sub_axis].axis)
                && shardings.iter().all(|own| both(own, sub_axis))
        };
        Self((0..sub_axes.len()).map(holds).collect())
    }

    pub(super) fn is_none(&self) -> bool {
        !self.0.contains(&true)
    }

    /// For each digit whether it goes where the one before it does.
    pub(super) fn follows(&self, digits: &[Placed]) -> Vec<bool> {
        let follows = |(at, next): (usize, &Placed)| {
            let Some(last) = at.checked_sub(1).map(|at| digits[at]) else { return false };
            let neighbours = last.sub_axis.abs_diff(next.sub_axis) == 1 && self.0[last.sub_axis.min(next.sub_axis)];
            neighbours && (last.dim, last.stride) == (next.dim, next.stride)
        };
        digits.iter().enumerate().map(follows).collect()
    }
}
