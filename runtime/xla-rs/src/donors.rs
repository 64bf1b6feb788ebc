//! The inputs whose memory a module may take.

use halite_runtime::{Result, RuntimeError};
use prost::Message;
use std::collections::BTreeSet;

/// The numbers of the entry's parameters that the bytes of an `HloModuleProto` alias with an output, or give away.
///
/// # Errors
/// When the bytes are no such message.
pub(super) fn donors(hlo: &[u8]) -> Result<BTreeSet<usize>> {
    let module = Module::decode(hlo)
        .map_err(|error| RuntimeError::InvalidProgram(format!("the bytes are not an HLO module: {error}")))?;
    let aliased = module.input_output_alias.iter().flat_map(|list| &list.entries).map(|entry| entry.parameter_number);
    let given = module.buffer_donor.iter().flat_map(|list| &list.entries).map(|entry| entry.parameter_number);
    Ok(aliased.chain(given).filter_map(|number| usize::try_from(number).ok()).collect())
}

/// The part of `HloModuleProto` that this needs.
#[derive(Clone, PartialEq, Message)]
struct Module {
    #[prost(message, optional, tag = "8")]
    input_output_alias: Option<Aliases>,
    #[prost(message, optional, tag = "18")]
    buffer_donor: Option<Donors>,
}

/// `HloInputOutputAliasProto`.
#[derive(Clone, PartialEq, Message)]
struct Aliases {
    #[prost(message, repeated, tag = "1")]
    entries: Vec<Alias>,
}

/// `HloInputOutputAliasProto.AliasEntryProto`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
struct Alias {
    #[prost(int64, tag = "2")]
    parameter_number: i64,
}

/// `HloBufferDonorProto`.
#[derive(Clone, PartialEq, Message)]
struct Donors {
    #[prost(message, repeated, tag = "1")]
    entries: Vec<Donor>,
}

/// `HloBufferDonorProto.BufferDonorEntryProto`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
struct Donor {
    #[prost(int64, tag = "1")]
    parameter_number: i64,
}
