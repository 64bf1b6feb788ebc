//! What the parameters of a module hold.

use crate::estimate::MemoryKind;
use crate::{Buffer, ModuleEntry};
use halite_tensor::{BufferSlot, Slot};
use std::collections::BTreeMap;

/// What the parameters of a module hold, by the slots of the buffers that they read.
pub fn arguments(entry: &ModuleEntry, buffers: &[Buffer]) -> Vec<MemoryKind> {
    let slots: BTreeMap<&str, BufferSlot> = buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.slot)).collect();
    let kind = |name: &str| match slots.get(name) {
        Some(BufferSlot::Batch) => MemoryKind::Batch,
        Some(BufferSlot::Weight) => MemoryKind::Weights,
        Some(
            BufferSlot::State(Slot::M)
            | BufferSlot::State(Slot::V)
            | BufferSlot::State(Slot::Master)
            | BufferSlot::State(Slot::Step),
        ) => MemoryKind::Optimizer,
        None => MemoryKind::Arguments,
    };
    entry.inputs.iter().map(|port| kind(&port.name)).collect()
}
