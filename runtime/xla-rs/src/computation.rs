//! A program as the crate's computation.

use super::status;
use halite_runtime::{Program, Result, RuntimeError};
use prost::Message;

/// A program as a computation, for [`PjRtClient::compile`](xla::PjRtClient::compile) and whatever else takes one.
///
/// The options of the program do not come along; see [`XlaRs::load`](super::XlaRs::load).
///
/// # Errors
/// When XLA refuses the module, or its program shape states another number of outputs than its entry has.
pub fn computation(program: &Program<'_>) -> Result<xla::XlaComputation> {
    let snapshot = snapshot(program.hlo());
    let module = xla::HloModuleProto::parse_proto(&snapshot, true);
    let module = module.map_err(|error| RuntimeError::Compile(status(error)))?;
    let read = module.to_bytes().map_err(|error| RuntimeError::Compile(status(error)))?;
    check_outputs(&read)?;
    Ok(xla::XlaComputation::from_proto(&module))
}

/// Checks the number of outputs in a module as XLA has read it. XLA ends the process when it compiles one where they differ.
fn check_outputs(module: &[u8]) -> Result<()> {
    let invalid = |reason: String| RuntimeError::InvalidProgram(reason);
    let module = Module::decode(module).map_err(|error| invalid(format!("XLA's module cannot be read: {error}")))?;
    let entry = module.computations.iter().find(|computation| computation.id == module.entry_computation_id);
    let outputs = |program: Option<&ProgramShape>| Some(program?.result.as_ref()?.tuple_shapes.len());
    let stated = outputs(module.host_program_shape.as_ref());
    let found = outputs(entry.and_then(|entry| entry.program_shape.as_ref()));
    match (stated, found) {
        (Some(stated), Some(found)) if stated == found => Ok(()),
        (Some(stated), Some(found)) => {
            Err(invalid(format!("the program shape states {stated} outputs in a tuple, the entry has {found}")))
        }
        _ => Err(invalid("the module has no entry with a result".into())),
    }
}

/// The part of `HloModuleProto` that the check needs.
#[derive(Clone, PartialEq, Message)]
struct Module {
    #[prost(message, repeated, tag = "3")]
    computations: Vec<Computation>,
    #[prost(message, optional, tag = "4")]
    host_program_shape: Option<ProgramShape>,
    #[prost(int64, tag = "6")]
    entry_computation_id: i64,
}

/// `HloComputationProto`.
#[derive(Clone, PartialEq, Message)]
struct Computation {
    #[prost(message, optional, tag = "4")]
    program_shape: Option<ProgramShape>,
    #[prost(int64, tag = "5")]
    id: i64,
}

/// `ProgramShapeProto`.
#[derive(Clone, PartialEq, Message)]
struct ProgramShape {
    #[prost(message, optional, tag = "2")]
    result: Option<Shape>,
}

/// `ShapeProto`.
#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "4")]
    tuple_shapes: Vec<Shape>,
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
