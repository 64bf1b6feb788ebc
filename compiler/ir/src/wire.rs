//! What ranks send to one another.

use crate::ty::TensorType;

/// What a rank sends for one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wire<'a> {
    /// Which ranks act together; none where pairs of ranks are listed.
    pub groups: &'a [Vec<usize>],
    /// Bytes that each rank sends when those of a group form a ring: of `n` ranks, gathering or scattering a tensor of `b` bytes takes
    /// `(n - 1) / n * b`, and adding it up on all of them twice that.
    pub bytes: u64,
}

impl<'a> Wire<'a> {
    /// Of an op that sends `times` all but its own part of `whole` around each group.
    pub(crate) fn around(groups: &'a [Vec<usize>], whole: &TensorType, times: u64) -> Self {
        let ranks = groups.first().map_or(1, Vec::len).max(1) as u64;
        Self { groups, bytes: times * (whole.bytes().saturating_mul(ranks - 1) / ranks) }
    }
}
