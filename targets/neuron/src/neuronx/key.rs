//! The identity of a compile: two compiles with the same key are the same.

use super::compiler::Version;
use super::flags::normalized_flags;
use halite_bundle::sha256;

/// The version of the key format. A change gives every module a new key.
const KEY_VERSION: u32 = 1;

/// The key of a module in the store: SHA-256, in hex, over [`KEY_VERSION`], the SHA-256 of its
/// [canonical bytes](halite_hlo::canonical), the version of the compiler as it prints it, and the
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
    use halite_hlo::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, OpMetadata};

    fn module(name: &str, op_name: &str, opcode: &str) -> Vec<u8> {
        let metadata = OpMetadata { op_name: op_name.to_owned(), ..OpMetadata::default() };
        let instruction = HloInstructionProto {
            opcode: opcode.to_owned().into(),
            metadata: Some(metadata.into()),
            ..HloInstructionProto::default()
        };
        let computation = HloComputationProto { instructions: vec![instruction], ..HloComputationProto::default() };
        let name = name.to_owned();
        halite_hlo::encode(&HloModuleProto { name, computations: vec![computation], ..HloModuleProto::default() })
    }

    #[test]
    fn names_do_not_tell_programs_apart() {
        let plain = halite_hlo::canonical(&module("a", "x", "add"));
        assert_eq!(plain, halite_hlo::canonical(&module("b", "y", "add")));
        assert_ne!(plain, halite_hlo::canonical(&module("a", "x", "multiply")));
    }

    #[test]
    fn what_is_not_known_counts() {
        // Field 1000, which is not in the schema.
        let unknown = [module("a", "x", "add"), vec![0xc0, 0x3e, 0x01]].concat();
        assert_eq!(halite_hlo::canonical(&unknown), unknown);
        assert_eq!(halite_hlo::canonical(&[0xff; 9]), [0xff; 9]);
    }

    #[test]
    fn keys_hold_everything_that_changes_code() {
        let version = |text: &str| Version { text: text.to_owned(), number: crate::tables::CompilerVersion(vec![2]) };
        let flags = ["--target=trn1".to_owned(), "--auto-cast=none".to_owned()];
        let of = |hlo, compiler: &str, flags: &[String]| key(hlo, &version(compiler), flags);
        let first = of("h", "2.27", &flags);
        assert_eq!(first, of("h", "2.27", &[flags[1].clone(), flags[0].clone()]));
        let others = [of("i", "2.27", &flags), of("h", "2.27.1", &flags), of("h", "2.27", &flags[..1])];
        assert!(first.len() == 64 && others.iter().all(|other| *other != first));
    }
}
