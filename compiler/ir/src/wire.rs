//! Traffic between ranks.

use crate::ty::TensorType;
use halite_tensor::Groups;

/// The traffic of a rank for one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wire<'a> {
    /// The groups of ranks that act together; `None` where pairs of ranks are listed.
    pub groups: Option<&'a Groups>,
    /// Bytes that each rank sends when those of a group form a ring: of `n` ranks, gathering or scattering a tensor of `b` bytes takes
    /// `(n - 1) / n * b`, and adding it up on all of them twice that.
    pub bytes: u64,
}

impl<'a> Wire<'a> {
    /// The traffic of an op that sends, `times` over, all but its own part of each of `whole` around each group.
    pub(crate) fn around(groups: &'a Groups, whole: &[&TensorType], times: u64) -> Self {
        let ranks = groups.size().unwrap_or(1) as u64;
        let sent = |ty: &&TensorType| times * (ty.bytes().saturating_mul(ranks - 1) / ranks);
        Self { groups: Some(groups), bytes: whole.iter().map(sent).sum() }
    }
}
