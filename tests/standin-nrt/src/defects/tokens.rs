//! Tokens that put collectives in one order.

use super::rewrite::rewrite;
use halite_hlo::STREAM;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use std::collections::BTreeMap;

/// Whether a collective has a token.
pub(super) fn has_any(module: &HloModuleProto) -> bool {
    module.computations.iter().flat_map(|computation| &computation.instructions).any(HloInstructionProto::has_token)
}

/// Takes the tokens out, as the compiler is said to do once it has an order. CPU XLA has none.
pub(super) fn drop(module: &mut HloModuleProto) {
    for computation in &mut module.computations {
        let with_token = computation.instructions.iter().filter(|inst| inst.has_token());
        let mut tokens: BTreeMap<i64, i64> = BTreeMap::new();
        for inst in with_token {
            tokens.extend(inst.operand_ids.last().map(|&token| (inst.id, token)));
        }
        let (mut kept, mut replaced) = (Vec::new(), BTreeMap::new());
        for mut inst in std::mem::take(&mut computation.instructions) {
            inst.operand_ids.iter_mut().for_each(|id| *id = *replaced.get(id).unwrap_or(id));
            let tuple = inst.operand_ids.first().copied().filter(|_| inst.opcode == "get-tuple-element");
            let source = tuple.and_then(|tuple| kept.iter().find(|own: &&HloInstructionProto| own.id == tuple));
            if let Some((source, &token)) = source.and_then(|source| Some((source, tokens.get(&source.id)?))) {
                // Its results but the token are one array, or a tuple.
                let results = source.operand_ids.len();
                if inst.tuple_index == results as i64 {
                    replaced.insert(inst.id, token);
                    continue;
                }
                if results == 1 {
                    replaced.insert(inst.id, source.id);
                    continue;
                }
            }
            if inst.has_token() {
                inst.operand_ids.pop();
                inst.frontend_attributes = None;
                let only = inst.operand_ids.len() == 1;
                inst.shape = inst.shape.map(|mut shape| {
                    shape.tuple_shapes.pop();
                    if only { shape.tuple_shapes.pop().unwrap_or_default() } else { shape }
                });
            }
            kept.push(inst);
        }
        computation.instructions = kept;
    }
}

/// Gives ranks the shards of others where a scatter runs in stream 1.
pub(super) fn scatter_backwards(module: &mut HloModuleProto) {
    rewrite(module, |inst, _| {
        let attributes = inst.frontend_attributes.as_deref();
        let stream = attributes.and_then(|attributes| attributes.map.get(STREAM));
        if inst.opcode == "reduce-scatter" && stream.is_some_and(|stream| stream == "1") {
            inst.replica_groups.iter_mut().for_each(|group| group.replica_ids.reverse());
        }
    });
}
