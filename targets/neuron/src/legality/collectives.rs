//! Instructions across ranks.

use super::describe::describe;
use super::groups::{Groups, Lists};
use super::{Broken, Checker};
use crate::Tables;
use crate::tables::Hardware;
use std::collections::{BTreeMap, BTreeSet};

impl Checker<'_, '_> {
    fn hardware(&self) -> Option<&'static Hardware> {
        Tables::builtin().hardware(self.profile.target)
    }

    /// No groups are written.
    pub(super) fn implicit_groups(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        Groups::of(inst).is_none().then(|| format!("`{}` has no groups", inst.opcode))
    }

    /// Groups are not disjoint, leave ranks out or differ in size.
    pub(super) fn group_ranks(&self, at: usize) -> Option<String> {
        let groups = Groups::of(self.graph.inst(at))?;
        let sizes: BTreeSet<usize> = groups.0.iter().map(|group| group.replica_ids.len()).collect();
        if sizes.len() > 1 {
            return Some(format!("groups have the sizes {}", listed(&sizes)));
        }
        let mut ranks: Vec<i64> = groups.0.iter().flat_map(|group| group.replica_ids.iter().copied()).collect();
        ranks.sort_unstable();
        if let Some(pair) = ranks.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("rank {} is in two places", pair[0]));
        }
        let missing = ranks.iter().zip(0i64..).find(|(rank, expected)| *rank != expected)?;
        Some(format!("rank {} is in no group", missing.1))
    }

    /// The hardware does not take groups of this size. Of groups over instances, what each instance has of one counts.
    pub(super) fn group_size(&self, at: usize) -> Option<Broken> {
        let rules = &self.hardware()?.groups;
        let groups = Groups::of(self.graph.inst(at))?.inside(self.ranks_of_instance()?);
        let size = groups.largest();
        let known = rules.sizes.iter().any(|&own| own as usize == size);
        let multiple = rules.multiple.max(1);
        let strided = rules.strided.iter().any(|own| own.size as usize == size && groups.are_strided(own.stride));
        if known || strided || size.is_multiple_of(multiple as usize) {
            return None;
        }
        let sizes: Vec<String> = rules.sizes.iter().map(u32::to_string).collect();
        let (target, sizes) = (self.profile.target, sizes.join(", "));
        let found = format!("groups of {size} ranks, and {target} takes {sizes} or multiples of {multiple}");
        Some(Broken { provenance: Some(&rules.provenance), ..found.into() })
    }

    /// How many ranks run on one instance.
    fn ranks_of_instance(&self) -> Option<i64> {
        Some(i64::from((self.hardware()?.cores / self.profile.logical_core.max(1)).max(1)))
    }

    /// A group has other positions on one instance than on another.
    pub(super) fn group_placement(&self, at: usize) -> Option<String> {
        let groups = Groups::of(self.graph.inst(at))?;
        let per_instance = self.ranks_of_instance()?;
        if groups.num_ranks() as i64 <= per_instance {
            return None;
        }
        let uneven = |ranks: &[i64]| {
            let mut instances: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
            for rank in ranks {
                instances.entry(rank.div_euclid(per_instance)).or_default().insert(rank.rem_euclid(per_instance));
            }
            let mut positions = instances.into_values();
            let first = positions.next();
            positions.any(|other| Some(other) != first)
        };
        let number = groups.0.iter().position(|group| uneven(&group.replica_ids))?;
        Some(format!("group {number} has other cores on one instance of {per_instance} ranks than on another"))
    }

    /// Groups stand in a newer field.
    pub(super) fn group_field(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        let field = inst.groups_field();
        (field != "replica_groups").then(|| format!("`{}` has its groups in `{field}`", inst.opcode))
    }

    /// A channel or device numbers are set.
    pub(super) fn channel(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        match (inst.channel_id, inst.use_global_device_ids) {
            (0, false) => None,
            (0, true) => Some(format!("`{}` numbers ranks by device", inst.opcode)),
            (channel, _) => Some(format!("`{}` has the channel {channel}", inst.opcode)),
        }
    }

    /// More bytes than are known to work.
    pub(super) fn gathered_bytes(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        let limit = Tables::builtin().limits(self.profile.target)?.gathered_bytes;
        let shape = match &*inst.opcode {
            "all-gather" => inst.shape.as_deref(),
            _ => self.graph.operand_shape(at, 0),
        }?;
        let bytes = shape.num_bytes();
        (bytes > limit).then(|| {
            format!("`{}` of `{}` has {bytes} bytes, and {limit} are known to work", inst.opcode, describe(Some(shape)))
        })
    }

    /// The first collective whose groups are one list more than a program may have, and how many there are.
    pub(super) fn group_lists(&self) -> Option<(Option<usize>, String)> {
        let limit = Tables::builtin().limits(self.profile.target)?.group_lists(&self.profile.version)?;
        let (mut lists, mut first) = (Lists::default(), None);
        for at in 0..self.graph.len() {
            let Some(groups) = Groups::of(self.graph.inst(at)) else { continue };
            if lists.number(groups.0) == limit {
                first = first.or(Some(at));
            }
        }
        let count = lists.len();
        first.map(|at| (Some(at), format!("{count} different lists of groups, and a program may have {limit}")))
    }

    /// Pairs in which a rank only sends, only receives, or does one of it twice.
    pub(super) fn open_ring(&self, at: usize) -> Option<String> {
        let pairs = &self.graph.inst(at).source_target_pairs;
        let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
        for pair in pairs {
            if !sources.insert(pair.source) {
                return Some(format!("rank {} sends twice", pair.source));
            }
            if !targets.insert(pair.target) {
                return Some(format!("rank {} receives twice", pair.target));
            }
        }
        if let Some(rank) = sources.difference(&targets).next() {
            return Some(format!("rank {rank} sends and does not receive"));
        }
        targets.difference(&sources).next().map(|rank| format!("rank {rank} receives and does not send"))
    }
}

fn listed(numbers: &BTreeSet<usize>) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
