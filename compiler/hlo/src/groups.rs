//! The groups of collectives, in whichever way they are written.

use crate::frontend::HAS_TOKEN;
use crate::iota::iota;
use crate::proto::{AxisRefProto, HloInstructionProto, IotaReplicaGroupListProto};
use crate::proto::{MeshAxesReplicaGroupListProto, MeshProto, ReplicaGroup};
use std::borrow::Cow;

impl HloInstructionProto {
    /// The groups of a collective; none where all ranks are one, and `None` where what is written are no groups.
    pub fn groups(&self) -> Option<Cow<'_, [ReplicaGroup]>> {
        if let Some(list) = self.iota_groups() {
            return list.groups().map(Cow::Owned);
        }
        if let Some(list) = &self.mesh_axes_replica_group_list {
            return list.groups().map(Cow::Owned);
        }
        let list = self.collective_device_list.as_deref().map(|list| &list.replica_groups);
        Some(Cow::Borrowed(list.map_or(&self.replica_groups[..], Vec::as_slice)))
    }

    /// Groups that are written as an iota.
    pub(crate) fn iota_groups(&self) -> Option<&IotaReplicaGroupListProto> {
        let list = self.collective_device_list.as_deref().and_then(|list| list.iota_replica_group_list.as_ref());
        list.or(self.iota_collective_device_list.as_deref())
    }

    /// Whether the last operand of a collective is a token, and so the last result.
    pub fn has_token(&self) -> bool {
        let attributes = self.frontend_attributes.as_deref();
        attributes.and_then(|attributes| attributes.map.get(HAS_TOKEN)).is_some_and(|says| says == "1")
    }

    /// The field in which groups stand.
    pub fn groups_field(&self) -> &'static str {
        match () {
            () if self.mesh_axes_replica_group_list.is_some() => "mesh_axes_replica_group_list",
            () if self.iota_collective_device_list.is_some() => "iota_collective_device_list",
            () if self.collective_device_list.is_some() => "collective_device_list",
            () => "replica_groups",
        }
    }
}

impl IotaReplicaGroupListProto {
    /// The groups, written out; `None` where they are none.
    pub fn groups(&self) -> Option<Vec<ReplicaGroup>> {
        let ranks = iota(&self.iota_reshape_dims, &self.iota_transpose_perm)?;
        let size = usize::try_from(self.num_devices_per_group).ok()?;
        let count = usize::try_from(self.num_replica_groups).ok()?;
        if count.checked_mul(size) == Some(ranks.len()) { chunks(&ranks, size) } else { None }
    }
}

impl MeshAxesReplicaGroupListProto {
    /// The groups, written out; `None` where they are none.
    pub fn groups(&self) -> Option<Vec<ReplicaGroup>> {
        let mesh = self.mesh.as_ref()?;
        let digits = mesh.digits(&self.axes)?;
        let kept = |grouped: bool| digits.iter().enumerate().filter(move |(_, digit)| digit.1 == grouped);
        let order = kept(false).chain(kept(true)).map(|(at, _)| at as i32).collect::<Vec<_>>();
        let sizes: Vec<i64> = digits.iter().map(|digit| digit.0).collect();
        let size: i64 = kept(true).try_fold(1, |product: i64, (_, digit)| product.checked_mul(digit.0))?;
        let ranks = iota(&sizes, &order)?;
        chunks(&mesh.devices(&ranks)?, usize::try_from(size).ok()?)
    }
}

impl MeshProto {
    /// The axes, those split of which only a part is named: the size of each piece, and whether it is named.
    fn digits(&self, named: &[AxisRefProto]) -> Option<Vec<(i64, bool)>> {
        let mut digits = Vec::new();
        for (position, axis) in self.axes.iter().enumerate() {
            let own = named.iter().filter(|named| named.mesh_axis_index == position as i64);
            let part =
                |named: &AxisRefProto| named.sub_axis_info.map_or((1, axis.size), |sub| (sub.pre_size, sub.size));
            let mut parts: Vec<(i64, i64)> = own.map(part).collect();
            parts.sort_unstable();
            let mut before = 1;
            for (from, size) in parts {
                let gap = from.checked_div(before).filter(|&gap| gap > 0 && gap.checked_mul(before) == Some(from))?;
                digits.extend([(gap, false), (size, true)]);
                before = from.checked_mul(size)?;
            }
            let rest = axis.size.checked_div(before).filter(|&rest| rest.checked_mul(before) == Some(axis.size))?;
            digits.push((rest, false));
        }
        Some(digits)
    }

    fn devices(&self, positions: &[i64]) -> Option<Vec<i64>> {
        let listed = match &self.iota_devices {
            Some(devices) if self.device_ids.is_empty() => iota(&devices.reshape_dims, &devices.transpose_perm)?,
            Some(_) => return None,
            None if self.device_ids.is_empty() => return Some(positions.to_vec()),
            None => self.device_ids.clone(),
        };
        let device = |&position: &i64| listed.get(usize::try_from(position).ok()?).copied();
        positions.iter().map(device).collect()
    }
}

fn chunks(ranks: &[i64], size: usize) -> Option<Vec<ReplicaGroup>> {
    let group = |ranks: &[i64]| ReplicaGroup { replica_ids: ranks.to_vec() };
    (size > 0).then(|| ranks.chunks(size).map(group).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{IotaDevices, MeshAxis, SubAxis};

    fn mesh_groups(sizes: &[i64], axes: &[(i64, Option<(i64, i64)>)]) -> Option<Vec<Vec<i64>>> {
        let axis = |&size: &i64| MeshAxis { name: String::new(), size };
        let named = |&(mesh_axis_index, sub): &(i64, Option<(i64, i64)>)| AxisRefProto {
            mesh_axis_index,
            sub_axis_info: sub.map(|(pre_size, size)| SubAxis { pre_size, size }),
        };
        let list = MeshAxesReplicaGroupListProto {
            mesh: Some(MeshProto {
                axes: sizes.iter().map(axis).collect(),
                device_ids: Vec::new(),
                iota_devices: None,
            }),
            axes: axes.iter().map(named).collect(),
        };
        Some(list.groups()?.into_iter().map(|group| group.replica_ids).collect())
    }

    /// XLA of JAX 0.10.2 writes the groups of `tensor` on a mesh of `data` = 2 and `tensor` = 4 so.
    #[test]
    fn devices_of_a_mesh_have_an_order() {
        let axis = |size| MeshAxis { name: String::new(), size };
        let iota_devices = Some(IotaDevices { reshape_dims: vec![2, 4], transpose_perm: vec![1, 0] });
        let mesh = MeshProto { axes: vec![axis(4), axis(1), axis(2)], device_ids: Vec::new(), iota_devices };
        let axes = vec![AxisRefProto { mesh_axis_index: 0, sub_axis_info: None }];
        let groups = MeshAxesReplicaGroupListProto { mesh: Some(mesh), axes }.groups().unwrap();
        let ranks: Vec<Vec<i64>> = groups.into_iter().map(|group| group.replica_ids).collect();
        assert_eq!(ranks, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    }

    #[test]
    fn axes_of_a_mesh_are_groups() {
        assert_eq!(mesh_groups(&[2, 3], &[(1, None)]).unwrap(), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(mesh_groups(&[2, 3], &[(0, None)]).unwrap(), [[0, 3], [1, 4], [2, 5]]);
        assert_eq!(mesh_groups(&[8], &[(0, Some((1, 2)))]).unwrap(), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(mesh_groups(&[8], &[(0, Some((4, 2)))]).unwrap(), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        let both = [(0, Some((1, 2))), (0, Some((4, 2)))];
        assert_eq!(mesh_groups(&[8], &both).unwrap(), [[0, 1, 4, 5], [2, 3, 6, 7]]);
        for wrong in [&[(0, Some((3, 2)))][..], &[(0, Some((0, 2)))], &[(0, Some((1, -2)))], &[(0, Some((1, 1 << 60)))]]
        {
            assert_eq!(mesh_groups(&[8], wrong), None, "{wrong:?}");
        }
    }
}
