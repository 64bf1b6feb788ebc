//! Whole numbers that are computed otherwise.

use super::rewrite::{has, is, of, rewrite};
use halite_hlo::proto::{HloModuleProto, Numbers};
use halite_tensor::DType;

/// Computes what has this opcode in `f32`, which rounds above 2^24.
fn in_f32(module: &mut HloModuleProto, opcode: &str) {
    rewrite(module, |inst, before| {
        let Some(shape) = inst.shape.clone().filter(|_| is(inst, opcode, DType::U32)) else { return };
        let wide = of(&shape, DType::F32);
        let operands: Vec<i64> = inst.operand_ids.iter().map(|&id| before.emit("convert", &wide, &[id])).collect();
        let result = before.emit(opcode, &wide, &operands);
        (inst.opcode, inst.operand_ids) = ("convert".into(), Numbers::from_slice(&[result]));
    });
}

pub(super) fn product(module: &mut HloModuleProto) {
    in_f32(module, "multiply");
}

pub(super) fn sum(module: &mut HloModuleProto) {
    in_f32(module, "add");
}

/// Shifts to the other side.
pub(super) fn shift_left(module: &mut HloModuleProto) {
    rewrite(module, |inst, _| {
        if is(inst, "shift-left", DType::U32) {
            inst.opcode = "shift-right-logical".into();
        }
    });
}

/// Compares unsigned words as signed ones.
pub(super) fn compare(module: &mut HloModuleProto) {
    rewrite(module, |inst, before| {
        let words: Vec<_> = inst.operand_ids.iter().filter_map(|&id| before.known(id)).cloned().collect();
        if inst.opcode == "compare" && words.len() == 2 && words.iter().all(|word| has(word, DType::U32)) {
            let signed = words.iter().filter_map(|word| {
                let shape = of(word.shape.as_ref()?, DType::S32);
                Some(before.emit("bitcast-convert", &shape, &[word.id]))
            });
            inst.operand_ids = signed.collect();
            inst.comparison_type = "SIGNED".to_owned();
        }
    });
}
