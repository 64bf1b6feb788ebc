//! The bytes by which a module is told from others.

use crate::codec::{decode, encode};
use crate::proto::HloModuleProto;

/// The bytes of a module by which it is told from others: without its name, `OpMetadata` and stack frames, which do not
/// change code. Programs that differ in nothing else share a NEFF, whose names for people are then those of the first.
///
/// Bytes that do not decode and encode to themselves hold what our messages do not know; they are taken as they are.
pub fn canonical(bytes: &[u8]) -> Vec<u8> {
    match decode(bytes) {
        Ok(module) if encode(&module) == bytes => encode(&without_names(module)),
        _ => bytes.to_vec(),
    }
}

fn without_names(mut module: HloModuleProto) -> HloModuleProto {
    module.name.clear();
    module.stack_frame_index = None;
    let instructions = module.computations.iter_mut().flat_map(|computation| &mut computation.instructions);
    instructions.for_each(|instruction| instruction.metadata = None);
    module
}
