//! What makes two compiles the same.

use super::compiler::Version;
use super::flags::normalized_flags;
use crate::bundle::sha256;
use halite_hlo::proto::HloModuleProto;

/// The version of what keys are made from. A change gives every module a new key.
const KEY_VERSION: u32 = 1;

/// The bytes of a module by which it is told from others: without its name, `OpMetadata` and stack frames, which do not
/// change code. Programs that differ in nothing else share a NEFF, whose names for people are then those of the first.
///
/// Bytes that do not decode and encode to themselves hold what our messages do not know; they are taken as they are.
pub(crate) fn canonical_hlo(bytes: &[u8]) -> Vec<u8> {
    match halite_hlo::decode(bytes) {
        Ok(module) if halite_hlo::encode(&module) == bytes => halite_hlo::encode(&without_names(module)),
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

/// The key of a module in the store: SHA-256, in hex, over [`KEY_VERSION`], the SHA-256 of its
/// [canonical bytes](canonical_hlo), the version of the compiler as it prints it, and the
/// [normalized flags](normalized_flags).
pub(super) fn key(canonical_sha256: &str, version: &Version, flags: &[String]) -> String {
    let mut text = format!("halite neff {KEY_VERSION}\nhlo {canonical_sha256}\ncompiler {}\n", version.text);
    for flag in normalized_flags(flags) {
        // Debug output keeps a flag with a line break from looking like two.
        text.push_str(&format!("flag {flag:?}\n"));
    }
    sha256(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_hlo::proto::{HloComputationProto, HloInstructionProto, OpMetadata};

    fn module(name: &str, op_name: &str, opcode: &str) -> Vec<u8> {
        let metadata = OpMetadata { op_name: op_name.to_owned(), ..OpMetadata::default() };
        let instruction = HloInstructionProto {
            opcode: opcode.to_owned(),
            metadata: Some(Box::new(metadata)),
            ..HloInstructionProto::default()
        };
        let computation = HloComputationProto { instructions: vec![instruction], ..HloComputationProto::default() };
        let name = name.to_owned();
        halite_hlo::encode(&HloModuleProto { name, computations: vec![computation], ..HloModuleProto::default() })
    }

    #[test]
    fn names_do_not_tell_programs_apart() {
        let plain = canonical_hlo(&module("a", "x", "add"));
        assert_eq!(plain, canonical_hlo(&module("b", "y", "add")));
        assert_ne!(plain, canonical_hlo(&module("a", "x", "multiply")));
    }

    #[test]
    fn what_is_not_known_counts() {
        // Field 1000, which is not in the schema.
        let unknown = [module("a", "x", "add"), vec![0xc0, 0x3e, 0x01]].concat();
        assert_eq!(canonical_hlo(&unknown), unknown);
        assert_eq!(canonical_hlo(&[0xff; 9]), [0xff; 9]);
    }

    #[test]
    fn keys_hold_everything_that_changes_code() {
        let version =
            |text: &str| Version { text: text.to_owned(), number: halite_spec::target::CompilerVersion(vec![2]) };
        let flags = ["--target=trn1".to_owned(), "--auto-cast=none".to_owned()];
        let of = |hlo, compiler: &str, flags: &[String]| key(hlo, &version(compiler), flags);
        let first = of("h", "2.27", &flags);
        assert_eq!(first, of("h", "2.27", &[flags[1].clone(), flags[0].clone()]));
        let others = [of("i", "2.27", &flags), of("h", "2.27.1", &flags), of("h", "2.27", &flags[..1])];
        assert!(first.len() == 64 && others.iter().all(|other| *other != first));
    }
}
