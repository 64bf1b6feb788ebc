//! What the parameters of a module hold.

use crate::estimate::MemoryKind;
use crate::{Buffer, BufferRole, ModuleEntry};
use std::collections::BTreeMap;

/// What the parameters of a module hold, by the roles of the buffers that they read.
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
