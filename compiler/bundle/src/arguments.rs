//! The kinds of memory that the parameters of a module hold.

use crate::estimate::MemoryKind;
use crate::{Buffer, BufferRole, ModuleEntry};
use std::collections::BTreeMap;

/// The kind of memory that each parameter of a module holds, by the role of the buffer that it reads.
pub fn arguments(entry: &ModuleEntry, buffers: &[Buffer]) -> Vec<MemoryKind> {
    let roles: BTreeMap<&str, &BufferRole> =
        buffers.iter().map(|buffer| (buffer.name.as_str(), &buffer.role)).collect();
    let kind = |name: &str| match roles.get(name) {
        Some(BufferRole::Batch(_)) => MemoryKind::Batch,
        Some(BufferRole::Weight(_)) => MemoryKind::Weights,
        Some(BufferRole::State(spec)) if spec.transient => MemoryKind::Gradients,
        Some(BufferRole::State(_)) => MemoryKind::Optimizer,
        None => MemoryKind::Arguments,
    };
    entry.inputs.iter().map(|port| kind(&port.name)).collect()
}
