//! A program as the crate's computation.

use super::status;
use crate::{Program, Result, RuntimeError};

/// A program as a computation, for [`PjRtClient::compile`](xla::PjRtClient::compile) and whatever else takes one.
///
/// The options of the program do not come along; see [`XlaRs::load`](super::XlaRs::load).
///
/// # Errors
/// When XLA refuses the module.
pub fn computation(program: &Program<'_>) -> Result<xla::XlaComputation> {
    let snapshot = snapshot(program.hlo());
    let module = xla::HloModuleProto::parse_proto(&snapshot, true);
    let module = module.map_err(|error| RuntimeError::Compile(status(error)))?;
    Ok(xla::XlaComputation::from_proto(&module))
}

/// The bytes of a module inside an `HloProto` inside an `HloSnapshot`, field 1 each.
///
/// The crate reads bytes as a snapshot, then as an `HloProto`, and as a module only when these fail, which the wire format
/// does not promise.
fn snapshot(module: &[u8]) -> Vec<u8> {
    const FIRST_FIELD: u8 = 1 << 3 | 2;
    let wrap = |message: &[u8]| {
        let mut bytes = vec![FIRST_FIELD];
        prost::encoding::encode_varint(message.len() as u64, &mut bytes);
        bytes.extend_from_slice(message);
        bytes
    };
    wrap(&wrap(module))
}
