//! The byte form of a module.

use crate::proto::HloModuleProto;
use halite_support::{Diagnostic, Result, codes};
use prost::Message;

/// The module as protobuf bytes; equal modules give equal bytes.
pub fn encode(module: &HloModuleProto) -> Vec<u8> {
    module.encode_to_vec()
}

/// Reads a module from protobuf bytes. What it says is not checked; fields that [`crate::proto`] lacks are dropped.
///
/// # Errors
/// When the bytes are not the message, or name no computation.
pub fn decode(bytes: &[u8]) -> Result<HloModuleProto> {
    let module = HloModuleProto::decode(bytes)
        .map_err(|error| Diagnostic::error(codes::SYNTAX, format!("the bytes are no HLO module: {error}")))?;
    if module.computations.is_empty() {
        return Err(Diagnostic::error(codes::SYNTAX, "the bytes are no HLO module: it has no computation"));
    }
    Ok(module)
}
