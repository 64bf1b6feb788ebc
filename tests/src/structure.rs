//! The structure of an HLO module, whatever the names and the order of its instructions.

use halite_bundle::sha256;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto, LiteralProto, Name, Numbers};
use prost::Message;
use std::collections::HashMap;

/// SHA-256 of the structure of a module, in hex: of what its entry returns, by op, shape, attributes and operands, and of what it
/// donates. Names, numbers of instructions, their order and where they come from do not enter it, nor does what nothing reads.
///
/// # Panics
/// When an operand does not stand before its user, or a computation before its caller: a module of ours has them so.
pub fn structure(module: &HloModuleProto) -> String {
    let mut computations: HashMap<i64, String> = HashMap::new();
    for computation in &module.computations {
        let mut values: HashMap<i64, String> = HashMap::new();
        for inst in &computation.instructions {
            let mut text = bare(inst).encode_to_vec();
            inst.operand_ids.iter().for_each(|operand| text.extend(values[operand].as_bytes()));
            inst.called_computation_ids.iter().for_each(|callee| text.extend(computations[callee].as_bytes()));
            values.insert(inst.id, sha256(&text));
        }
        computations.insert(computation.id, values[&computation.root_id].clone());
    }
    let donated = module.input_output_alias.as_ref().map(Message::encode_to_vec).unwrap_or_default();
    sha256(&[computations[&module.entry_computation_id].as_bytes(), &donated].concat())
}

/// An instruction without what does not enter.
fn bare(inst: &HloInstructionProto) -> HloInstructionProto {
    HloInstructionProto {
        name: Name::default(),
        id: 0,
        metadata: None,
        operand_ids: Numbers::new(),
        called_computation_ids: Numbers::new(),
        ..inst.clone()
    }
}

/// The instructions of a module without any name in them, in order, and its donations: what a rename may not change. Of the constants that
/// `left_out` picks, only the type is told.
pub fn nameless(module: &HloModuleProto, left_out: impl Fn(&LiteralProto) -> bool) -> Vec<String> {
    let insts = module.computations.iter().flat_map(|computation| &computation.instructions);
    let inst = |inst: &HloInstructionProto| {
        let literal = inst.literal.clone().filter(|literal| !left_out(literal));
        format!("{:?}", HloInstructionProto { name: Name::default(), metadata: None, literal, ..inst.clone() })
    };
    insts.map(inst).chain([format!("{:?}", module.input_output_alias)]).collect()
}
