//! Values that go elsewhere.

use super::rewrite::{Before, is, rewrite};
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, Numbers};
use halite_tensor::DType;
use std::collections::BTreeSet;

/// Whether the operands of an instruction are several of one shape.
fn are_alike(inst: &HloInstructionProto, before: &Before<'_>) -> bool {
    let shapes: Vec<_> =
        inst.operand_ids.iter().map(|&id| before.known(id).and_then(|known| known.shape.as_ref())).collect();
    shapes.len() > 1 && shapes.windows(2).all(|pair| pair[0].is_some() && pair[0] == pair[1])
}

/// Calls functions with their operands in the wrong order, but for what stands in the place of kernels.
pub(super) fn swap_arguments(module: &mut HloModuleProto) {
    let computations = module.computations.iter();
    let kernels: BTreeSet<i64> =
        computations.filter(|computation| computation.name.starts_with("neuron")).map(|kernel| kernel.id).collect();
    rewrite(module, |inst, before| {
        let is_kernel = inst.called_computation_ids.iter().any(|id| kernels.contains(id));
        if inst.opcode == "call" && !is_kernel && are_alike(inst, before) {
            inst.operand_ids.reverse();
        }
    });
}

/// Hands on what is behind a barrier in the wrong order.
pub(super) fn swap_barriers(module: &mut HloModuleProto) {
    let instructions = module.computations.iter().flat_map(|computation| &computation.instructions);
    let barriers = instructions.filter(|inst| inst.opcode == "opt-barrier");
    let held: BTreeSet<i64> = barriers.flat_map(|inst| inst.operand_ids.clone()).collect();
    rewrite(module, |inst, before| {
        if held.contains(&inst.id) && inst.opcode == "tuple" && are_alike(inst, before) {
            inst.operand_ids.reverse();
        }
    });
}

/// Reads 0 where a rank is told its number.
pub(super) fn ignore_rank(module: &mut HloModuleProto) {
    rewrite(module, |inst, before| {
        let Some(shape) = inst.shape.clone() else { return };
        if is(inst, "parameter", DType::U32) && inst.name.starts_with("rank") {
            let told = before.add(inst.clone());
            *inst = HloInstructionProto {
                id: inst.id,
                name: format!("no.{}", inst.name).into(),
                opcode: "subtract".into(),
                shape: Some(shape),
                operand_ids: Numbers::from_slice(&[told, told]),
                ..HloInstructionProto::default()
            };
        }
    });
}
