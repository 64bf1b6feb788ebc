//! Instructions across ranks.

use super::{Case, array, case, edit, matrix, single};
use halite_hlo::ReduceKind;
use halite_hlo::proto::{CollectiveDeviceListProto, HloModuleProto, IotaReplicaGroupListProto, ReplicaGroup};
use halite_neuron::Generation;
use halite_support::Result;
use halite_tensor::DType;

pub(super) const CASES: &[Case] = &[
    case("implicit-groups", ungrouped, || summed(&consecutive(2, 1))),
    case("group-ranks", || regrouped(&[&[0, 1], &[1, 2]]), || summed(&consecutive(2, 2))),
    case("group-ranks", || regrouped(&[&[0, 1], &[2, 5]]), || summed(&consecutive(8, 4))),
    case("group-ranks", || regrouped(&[&[0, 1], &[2]]), || summed(&consecutive(1, 4))),
    case("group-size", || summed(&consecutive(4, 8)), || summed(&consecutive(8, 4))),
    case("group-size", || summed(&apart(4, 4)), || summed(&apart(4, 8))),
    case("group-size", || summed(&consecutive(24, 4)), || summed(&consecutive(64, 1))),
    Case {
        target: Generation::Trn2,
        ..case("group-size", || summed(&consecutive(24, 4)), || summed(&consecutive(4, 24)))
    },
    case("group-placement", || summed(&across(1)), || summed(&across(0))),
    case("collective-combiner", || combined(ReduceKind::And), || combined(ReduceKind::Max)),
    case("group-lists", || summed_by(17), || summed_by(16)),
    case("gathered-bytes", || gathered(8 << 20), || gathered(1 << 10)),
    case("group-field", newer_field, || summed(&consecutive(16, 2))),
    case("collective-channel", || channel(1), || channel(0)),
    case("open-ring", || permuted(&[(0, 1), (1, 2)]), || permuted(&[(0, 1), (1, 2), (2, 0)])),
];

/// `count` groups of `size` ranks that follow each other.
fn consecutive(size: usize, count: usize) -> Vec<Vec<usize>> {
    (0..count).map(|group| (group * size..(group + 1) * size).collect()).collect()
}

/// `size` ranks each, so far from one another.
fn apart(size: usize, stride: usize) -> Vec<Vec<usize>> {
    (0..stride).map(|first| (0..size).map(|at| first + at * stride).collect()).collect()
}

/// Groups of one rank on each of two instances of 32, the second moved on by `shift` places.
fn across(shift: usize) -> Vec<Vec<usize>> {
    (0..32).map(|rank| vec![rank, 32 + (rank + shift) % 32]).collect()
}

/// A sum over each of so many lists of groups of two ranks, each list in an order of its own.
fn summed_by(lists: usize) -> Result<HloModuleProto> {
    single(matrix(), |b, mut x| {
        for list in 0..lists {
            let mut groups = consecutive(2, 16);
            groups.rotate_left(list % 16);
            if list >= 16 {
                groups.reverse();
            }
            x = b.all_reduce(ReduceKind::Add, &[x], &groups)?[0];
        }
        Ok(x)
    })
}

fn summed(groups: &[Vec<usize>]) -> Result<HloModuleProto> {
    single(matrix(), |b, x| b.all_reduce(ReduceKind::Add, &[x], groups).map(|ids| ids[0]))
}

fn ungrouped() -> Result<HloModuleProto> {
    edit(summed(&consecutive(2, 1)), "all-reduce", |inst| inst.replica_groups.clear())
}

fn regrouped(groups: &[&[i64]]) -> Result<HloModuleProto> {
    let groups = groups.iter().map(|ranks| ReplicaGroup { replica_ids: ranks.to_vec() }).collect();
    edit(summed(&consecutive(2, 2)), "all-reduce", |inst| inst.replica_groups = groups)
}

fn combined(kind: ReduceKind) -> Result<HloModuleProto> {
    single(array(DType::S8, [4, 8]), |b, x| b.all_reduce(kind, &[x], &consecutive(2, 1)).map(|ids| ids[0]))
}

fn gathered(rows: usize) -> Result<HloModuleProto> {
    single(array(DType::F32, [rows, 4]), |b, x| b.all_gather(&[x], 0, &consecutive(2, 1)).map(|ids| ids[0]))
}

/// Groups as an iota: `[[0, 2], [1, 3]]`.
fn newer_field() -> Result<HloModuleProto> {
    let iota = IotaReplicaGroupListProto {
        num_replica_groups: 2,
        num_devices_per_group: 2,
        iota_reshape_dims: vec![2, 2],
        iota_transpose_perm: vec![1, 0],
    };
    let list =
        CollectiveDeviceListProto { iota_replica_group_list: Some(iota), ..CollectiveDeviceListProto::default() };
    edit(summed(&consecutive(2, 2)), "all-reduce", |inst| {
        inst.replica_groups.clear();
        inst.collective_device_list = Some(Box::new(list));
    })
}

fn channel(number: i64) -> Result<HloModuleProto> {
    edit(summed(&consecutive(2, 1)), "all-reduce", |inst| inst.channel_id = number)
}

fn permuted(pairs: &[(usize, usize)]) -> Result<HloModuleProto> {
    single(matrix(), |b, x| b.collective_permute(x, pairs))
}
