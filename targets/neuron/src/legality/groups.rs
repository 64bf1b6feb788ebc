//! Groups of ranks, in whichever way they are written.

use halite_hlo::proto::{HloInstructionProto, IotaReplicaGroupListProto, ReplicaGroup};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// More ranks than this are not written out.
const MAX_RANKS: i64 = 1 << 20;

/// The groups of a collective.
pub(super) struct Groups<'a>(pub(super) Cow<'a, [ReplicaGroup]>);

impl<'a> Groups<'a> {
    /// The groups that are written; `None` when there are none.
    pub(super) fn of(inst: &'a HloInstructionProto) -> Option<Self> {
        let groups = match &inst.collective_device_list {
            None => Cow::Borrowed(inst.replica_groups.as_slice()),
            Some(list) => match &list.iota_replica_group_list {
                Some(iota) => Cow::Owned(expand(iota).unwrap_or_default()),
                None => Cow::Borrowed(list.replica_groups.as_slice()),
            },
        };
        groups.iter().any(|group| !group.replica_ids.is_empty()).then_some(Self(groups))
    }

    /// The size of the largest group.
    pub(super) fn largest(&self) -> usize {
        self.0.iter().map(|group| group.replica_ids.len()).max().unwrap_or(0)
    }

    /// What each instance of so many ranks has of each group.
    pub(super) fn inside(&self, instance: i64) -> Groups<'static> {
        let parts = |group: &ReplicaGroup| {
            let mut parts: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
            for &rank in &group.replica_ids {
                parts.entry(rank.div_euclid(instance)).or_default().push(rank);
            }
            parts.into_values().map(|replica_ids| ReplicaGroup { replica_ids })
        };
        Groups(self.0.iter().flat_map(parts).collect())
    }

    /// Whether the ranks of each group are so far from one another.
    pub(super) fn are_strided(&self, stride: u32) -> bool {
        let apart = |pair: &[i64]| pair[1].checked_sub(pair[0]) == Some(i64::from(stride));
        self.0.iter().all(|group| group.replica_ids.windows(2).all(apart))
    }

    /// The number of ranks in all groups.
    pub(super) fn num_ranks(&self) -> usize {
        self.0.iter().map(|group| group.replica_ids.len()).sum()
    }
}

/// Groups that are written as an iota, reshaped and transposed.
fn expand(iota: &IotaReplicaGroupListProto) -> Option<Vec<ReplicaGroup>> {
    let dims = &iota.iota_reshape_dims;
    let count = dims.iter().try_fold(1i64, |product, &size| product.checked_mul(size))?;
    let size = iota.num_devices_per_group;
    if !(1..=MAX_RANKS).contains(&count) || size < 1 || iota.num_replica_groups.checked_mul(size) != Some(count) {
        return None;
    }
    let mut strides = vec![1i64; dims.len()];
    for dim in (1..dims.len()).rev() {
        strides[dim - 1] = strides[dim] * dims[dim];
    }
    let order: Option<Vec<usize>> = match iota.iota_transpose_perm.as_slice() {
        [] => Some((0..dims.len()).collect()),
        perm => perm.iter().map(|&dim| usize::try_from(dim).ok().filter(|&dim| dim < dims.len())).collect(),
    };
    let order = order.filter(|order| order.len() == dims.len())?;
    let rank = |mut position: i64| {
        let mut rank = 0;
        for &dim in order.iter().rev() {
            rank += position % dims[dim] * strides[dim];
            position /= dims[dim];
        }
        rank
    };
    let ranks: Vec<i64> = (0..count).map(rank).collect();
    Some(ranks.chunks(size as usize).map(|ranks| ReplicaGroup { replica_ids: ranks.to_vec() }).collect())
}
