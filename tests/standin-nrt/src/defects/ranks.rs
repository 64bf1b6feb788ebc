//! Collectives that are wrong.

use super::rewrite::{is, of, rewrite};
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_tensor::DType;

/// Adds up what was narrowed to `bf16`.
pub(super) fn narrow_sum(module: &mut HloModuleProto) {
    rewrite(module, |inst, before| {
        let Some(shape) = inst.shape.clone().filter(|_| is(inst, "all-reduce", DType::F32)) else { return };
        let narrow = |&id: &i64| {
            let narrow = before.emit("convert", &of(&shape, DType::Bf16), &[id]);
            before.emit("convert", &shape, &[narrow])
        };
        inst.operand_ids = inst.operand_ids.iter().map(narrow).collect();
    });
}

fn backwards(inst: &mut HloInstructionProto) {
    inst.replica_groups.iter_mut().for_each(|group| group.replica_ids.reverse());
}

/// Gathers in the wrong order of ranks.
pub(super) fn gather_backwards(module: &mut HloModuleProto) {
    rewrite(module, |inst, _| {
        if inst.opcode == "all-gather" {
            backwards(inst);
        }
    });
}

/// Gives ranks the shards of others.
pub(super) fn scatter_backwards(module: &mut HloModuleProto) {
    rewrite(module, |inst, _| {
        if inst.opcode == "reduce-scatter" {
            backwards(inst);
        }
    });
}

/// Leaves what should go around where it is.
pub(super) fn permute_still(module: &mut HloModuleProto) {
    rewrite(module, |inst, _| {
        if inst.opcode == "collective-permute" {
            inst.source_target_pairs.iter_mut().for_each(|pair| pair.target = pair.source);
        }
    });
}
