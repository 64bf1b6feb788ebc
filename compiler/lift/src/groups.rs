//! The groups of a collective as ranks.

use halite_hlo::proto::{HloInstructionProto, ReplicaGroup};
use halite_ir::ops::Groups;
use std::borrow::Cow;

/// The groups of a collective of `ranks`; `None` where they cannot be read.
///
/// Ranks are the replicas of a program without partitions, or the partitions of one replica. So each way to name devices names ranks, but for a
/// channel without numbers of devices, which means all partitions of the replicas that are listed. What few words say of more ranks than there
/// are is not written out.
pub(crate) fn groups(inst: &HloInstructionProto, ranks: usize) -> Option<Groups> {
    let written = inst.groups()?;
    let everyone = inst.channel_id > 0 && !inst.use_global_device_ids && is_one_replica(&written);
    if everyone || written.iter().all(|group| group.replica_ids.is_empty()) {
        return Some(vec![(0..ranks).collect()].into());
    }
    let count: usize = written.iter().map(|group| group.replica_ids.len()).sum();
    if count > ranks && matches!(written, Cow::Owned(_)) {
        return None;
    }
    let rank = |&rank: &i64| usize::try_from(rank).ok();
    let listed: Option<Vec<Vec<usize>>> =
        written.iter().map(|group| group.replica_ids.iter().map(rank).collect()).collect();
    listed.map(Groups::from)
}

fn is_one_replica(groups: &[ReplicaGroup]) -> bool {
    matches!(groups, [group] if group.replica_ids == [0])
}
