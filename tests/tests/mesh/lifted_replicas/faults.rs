//! Faults that are made in HLO.

use halite_hlo::proto::{HloComputationProto, HloInstructionProto, Numbers, ReplicaGroup};
use halite_tensor::{Mesh, SubAxisId};

/// Changes a sum over ranks at a position of a computation.
type Make = fn(&mut HloComputationProto, usize, &Mesh);

/// A kind of fault.
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) make: Make,
}

pub(super) const FAULTS: [Fault; 4] = [
    Fault { name: "sum left out", make: |computation, at, _| dropped(&mut computation.instructions[at]) },
    Fault { name: "sum made twice", make: |computation, at, _| doubled(computation, at) },
    Fault { name: "sum over all ranks or none", make: regrouped },
    Fault {
        name: "groups of neighbours in place of axes",
        make: |computation, at, mesh| shifted(&mut computation.instructions[at], mesh),
    },
];

fn dropped(inst: &mut HloInstructionProto) {
    inst.opcode = "copy".into();
    inst.called_computation_ids.clear();
    inst.replica_groups.clear();
}

fn doubled(computation: &mut HloComputationProto, at: usize) {
    let mut again = computation.instructions[at].clone();
    let once = again.id;
    again.id = 1 << 40;
    again.name = format!("{}.again", again.name).into();
    for reader in &mut computation.instructions[at + 1..] {
        reader.operand_ids.iter_mut().filter(|id| **id == once).for_each(|id| *id = again.id);
    }
    again.operand_ids = Numbers::from_slice(&[once]);
    computation.instructions.insert(at + 1, again);
}

fn set(inst: &mut HloInstructionProto, groups: &[Vec<usize>]) {
    let group = |group: &Vec<usize>| ReplicaGroup { replica_ids: group.iter().map(|&rank| rank as i64).collect() };
    inst.replica_groups = groups.iter().map(group).collect();
}

/// Over all ranks, or where it is so over one axis alone.
fn regrouped(computation: &mut HloComputationProto, at: usize, mesh: &Mesh) {
    let inst = &mut computation.instructions[at];
    let all: Vec<SubAxisId> = (0..mesh.sub_axes().len()).collect();
    let own = if inst.replica_groups.len() == 1 { &all[..1] } else { &all[..] };
    set(inst, &mesh.groups(own).lists());
}

/// The last rank of each group exchanged with that of the next, or, of one group, half of it.
fn shifted(inst: &mut HloInstructionProto, mesh: &Mesh) {
    let groups = &mut inst.replica_groups;
    if groups.len() == 1 {
        set(inst, &mesh.groups(&[mesh.sub_axes().len() - 1]).lists());
        return;
    }
    let lasts: Vec<i64> = groups.iter().filter_map(|group| group.replica_ids.last().copied()).collect();
    for (at, group) in groups.iter_mut().enumerate() {
        *group.replica_ids.last_mut().expect("no group is empty") = lasts[(at + 1) % lasts.len()];
    }
}
