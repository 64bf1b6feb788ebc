//! The byte form of a module.

use crate::proto::{HloModuleProto, HloProto};
use halite_support::{Diagnostic, Result, codes};
use prost::Message;

/// The module as protobuf bytes; equal modules give equal bytes.
pub fn encode(module: &HloModuleProto) -> Vec<u8> {
    module.encode_to_vec()
}

/// Reads a module from protobuf bytes, also where it is wrapped as in XLA's dumps. What it says is not checked; fields that [`crate::proto`]
/// lacks are dropped.
///
/// # Errors
/// When the bytes are not the message, or name no computation.
pub fn decode(bytes: &[u8]) -> Result<HloModuleProto> {
    plain(bytes).or_else(|error| wrapped(bytes).ok_or(error))
}

fn plain(bytes: &[u8]) -> Result<HloModuleProto> {
    let module = HloModuleProto::decode(bytes)
        .map_err(|error| Diagnostic::error(codes::SYNTAX, format!("the bytes are no HLO module: {error}")))?;
    if module.computations.is_empty() {
        return Err(Diagnostic::error(codes::SYNTAX, "the bytes are no HLO module: it has no computation"));
    }
    Ok(module)
}

fn wrapped(bytes: &[u8]) -> Option<HloModuleProto> {
    HloProto::decode(bytes).ok()?.hlo_module.filter(|module| !module.computations.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::HloComputationProto;

    #[test]
    fn what_xla_dumps_is_read_as_the_module_in_it() {
        let module = HloModuleProto {
            name: "dumped".to_owned(),
            computations: vec![HloComputationProto::default()],
            ..HloModuleProto::default()
        };
        let dumped = HloProto { hlo_module: Some(module.clone()) }.encode_to_vec();
        assert_eq!(decode(&dumped).unwrap(), module);
        assert!(decode(&HloProto::default().encode_to_vec()).is_err());
    }
}
