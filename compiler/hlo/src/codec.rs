//! The byte form of a module.

use crate::proto::{HloModuleProto, HloProto};
use crate::unknown::{in_dump, in_module};
use halite_support::{Diagnostic, Result, codes};
use prost::Message;

/// The module as protobuf bytes; equal modules give equal bytes.
pub fn encode(module: &HloModuleProto) -> Vec<u8> {
    module.encode_to_vec()
}

/// Reads a module from protobuf bytes, also where it is wrapped as in XLA's dumps. What it says is not checked; fields that [`crate::proto`]
/// lacks are dropped, but for those that may change which devices act together or what each holds.
///
/// # Errors
/// When the bytes are not the message, name no computation, or say more of devices than is known.
pub fn decode(bytes: &[u8]) -> Result<HloModuleProto> {
    match plain(bytes) {
        Ok(module) => known(module, in_module(bytes)),
        Err(error) => known(wrapped(bytes).ok_or(error)?, in_dump(bytes)),
    }
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

/// A module that has nothing unknown.
fn known(module: HloModuleProto, unknown: Option<(u32, &'static str)>) -> Result<HloModuleProto> {
    let Some((field, message)) = unknown else { return Ok(module) };
    let message = format!(
        "the HLO module has a field {field} in a `{message}` that is not known: it may change which devices act together or what each holds"
    );
    Err(Diagnostic::error(codes::SYNTAX, message).help("write the module by an XLA that does not use it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::HloComputationProto;

    #[test]
    fn what_is_unknown_of_devices_is_refused() {
        let instruction = |field: u8| {
            let mesh_list = [vec![0x0a, 3, field << 3 | 2, 1, 1]].concat();
            let list = [vec![0xea, 0x05, mesh_list.len() as u8], mesh_list].concat();
            let computation = [vec![0x12, list.len() as u8], list].concat();
            [vec![0x0a, 1, b'm', 0x1a, computation.len() as u8], computation].concat()
        };
        assert!(decode(&instruction(2)).is_ok());
        let error = decode(&instruction(9)).unwrap_err().to_string();
        assert!(error.contains("field 9 in a `MeshProto`"), "{error}");
        let dumped = [vec![0x0a, instruction(9).len() as u8], instruction(9)].concat();
        assert!(decode(&dumped).is_err());
    }

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
