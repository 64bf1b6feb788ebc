//! Groups of ranks, in whichever way they are written.

use halite_hlo::proto::{HloInstructionProto, ReplicaGroup};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// The groups of a collective.
pub(super) struct Groups<'a>(pub(super) Cow<'a, [ReplicaGroup]>);

impl<'a> Groups<'a> {
    /// The groups that are written; `None` when there are none.
    pub(super) fn of(inst: &'a HloInstructionProto) -> Option<Self> {
        let groups = inst.groups().unwrap_or_default();
        groups.iter().any(|group| !group.replica_ids.is_empty()).then_some(Self(groups))
    }

    /// The size of the largest group.
    pub(super) fn largest(&self) -> usize {
        self.0.iter().map(|group| group.replica_ids.len()).max().unwrap_or(0)
    }

    /// Returns the part of each group that lies on each instance of so many ranks.
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

/// The lists of groups that were met, by numbers from 0 up. Most collectives share theirs, which are told by where they are kept.
#[derive(Default)]
pub(super) struct Lists<'a> {
    kept: FxHashMap<Range<*const ReplicaGroup>, usize>,
    listed: FxHashMap<Cow<'a, [ReplicaGroup]>, usize>,
}

impl<'a> Lists<'a> {
    /// The number of a list.
    pub(super) fn number(&mut self, groups: Cow<'a, [ReplicaGroup]>) -> usize {
        let kept = if let Cow::Borrowed(groups) = groups { Some(groups.as_ptr_range()) } else { None };
        if let Some(&number) = kept.as_ref().and_then(|kept| self.kept.get(kept)) {
            return number;
        }
        let next = self.listed.len();
        let number = *self.listed.entry(groups).or_insert(next);
        self.kept.extend(kept.map(|kept| (kept, number)));
        number
    }

    /// How many lists there are.
    pub(super) fn len(&self) -> usize {
        self.listed.len()
    }
}

/// The groups of an instruction where they are listed.
pub(super) fn listed(inst: &HloInstructionProto) -> Option<&[ReplicaGroup]> {
    match inst.groups()? {
        Cow::Borrowed(listed) => Some(listed),
        Cow::Owned(_) => None,
    }
}
