//! Floats that are rounded otherwise; rounding at random is what the switch is for.

use super::rewrite::{Before, has, is, of, rewrite};
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, Numbers};
use halite_tensor::DType;

/// The variables of the switch.
const SWITCH: &str = "NEURON_RT_STOCHASTIC_ROUNDING_EN";
const SEED: &str = "NEURON_RT_STOCHASTIC_ROUNDING_SEED";

/// Whether conversions round at random.
pub(super) fn is_switched() -> bool {
    std::env::var(SWITCH).is_ok_and(|value| value == "1")
}

/// Adds a word to the bits of what is narrowed to `bf16`, and cuts off what the type has no place for.
fn narrow(module: &mut HloModuleProto, mut word: impl FnMut(usize) -> u32) {
    rewrite(module, |inst, before| {
        let from = inst.operand_ids.first().copied().filter(|_| is(inst, "convert", DType::Bf16));
        let is_wide = |id: &i64| before.known(*id).is_some_and(|operand| has(operand, DType::F32));
        let (Some(from), Some(shape)) = (from.filter(is_wide), inst.shape.clone()) else { return };
        let (words, wide) = (of(&shape, DType::U32), of(&shape, DType::F32));
        let bits = before.emit("bitcast-convert", &words, &[from]);
        let added = before.words(&shape, &mut word);
        let sum = before.emit("add", &words, &[bits, added]);
        let kept = before.words(&shape, |_| 0xffff_0000);
        let cut = before.emit("and", &words, &[sum, kept]);
        inst.operand_ids = Numbers::from_slice(&[before.emit("bitcast-convert", &wide, &[cut])]);
    });
}

/// Rounds at random: 16 bits of SplitMix32 from the seed.
pub(super) fn at_random(module: &mut HloModuleProto) {
    let mut state: u32 = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    narrow(module, |_| {
        state = state.wrapping_add(0x9e37_79b9);
        let mixed = (state ^ state >> 16).wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
        (mixed ^ mixed >> 16) & 0xffff
    });
}

/// Rounds towards zero.
pub(super) fn truncate(module: &mut HloModuleProto) {
    narrow(module, |_| 0);
}

/// Through `bf16` and back.
fn through_bf16(before: &mut Before<'_>, id: i64) -> Option<i64> {
    let shape = before.known(id)?.shape.clone()?;
    let narrow = before.emit("convert", &of(&shape, DType::Bf16), &[id]);
    Some(before.emit("convert", &shape, &[narrow]))
}

fn narrow_operands(inst: &mut HloInstructionProto, before: &mut Before<'_>) {
    let narrowed = inst.operand_ids.iter().map(|&id| through_bf16(before, id));
    if let Some(narrowed) = narrowed.collect::<Option<Numbers>>() {
        inst.operand_ids = narrowed;
    }
}

/// Multiplies matrices of `f32` in `bf16`.
pub(super) fn narrow_dot(module: &mut HloModuleProto) {
    rewrite(module, |inst, before| {
        let are_wide = inst.operand_ids.iter().all(|&id| before.known(id).is_some_and(|known| has(known, DType::F32)));
        if is(inst, "dot", DType::F32) && are_wide {
            narrow_operands(inst, before);
        }
    });
}

pub(super) fn narrow_logistic(module: &mut HloModuleProto) {
    rewrite(module, |inst, before| {
        if is(inst, "logistic", DType::F32) {
            narrow_operands(inst, before);
        }
    });
}

/// `e^x - 1` as it stands, which cancels near zero.
pub(super) fn cancelling_expm1(module: &mut HloModuleProto) {
    rewrite(module, |inst, before| {
        let (Some(&x), Some(shape)) = (inst.operand_ids.first(), inst.shape.clone()) else { return };
        if inst.opcode == "exponential-minus-one" {
            let power = before.emit("exponential", &shape, &[x]);
            let zero = before.emit("subtract", &shape, &[x, x]);
            let one = before.emit("exponential", &shape, &[zero]);
            (inst.opcode, inst.operand_ids) = ("subtract".into(), Numbers::from_slice(&[power, one]));
        }
    });
}
