//! Micro-batches: how many of them modules take.
//!
//! A buffer of the batch has the sizes of one micro-batch. A module that takes several has an input that holds them one after
//! another along the first dimension. The batch of an update is taken in pieces, one for each call of such a module.

use crate::{Action, Buffer, BufferRole, Manifest, ModuleEntry, Port, PortRole};
use indexmap::IndexMap;

/// The number of micro-batches that an input holds of a buffer: 1 for a buffer that is no data of the batch, `None` where the input is
/// not of the buffer's type.
pub fn micro_batches(port: &Port, buffer: &Buffer) -> Option<usize> {
    if port.dtype != buffer.dtype {
        return None;
    }
    if port.shape == buffer.shape {
        return Some(1);
    }
    let is_batch = matches!(buffer.role, BufferRole::Batch(None));
    let ([whole, rest @ ..], [size, own @ ..]) = (&port.shape[..], &buffer.shape[..]) else { return None };
    (is_batch && rest == own && *size > 0 && whole.is_multiple_of(*size) && *whole > 0).then(|| whole / size)
}

impl Manifest {
    /// The number of micro-batches that one call of a module takes; 0 where it reads nothing of the batch that is fed, `None` where
    /// its inputs disagree.
    pub fn micro_batches_of(&self, module: &ModuleEntry) -> Option<usize> {
        let mut found = 0;
        for buffer in self.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Batch(None))) {
            let port = module.inputs.iter().find(|port| port.role == PortRole::Buffer && port.name == buffer.name);
            let Some(port) = port else { continue };
            let count = micro_batches(port, buffer)?;
            if found != 0 && found != count {
                return None;
            }
            found = count;
        }
        Some(found)
    }

    /// The modules that an update calls, by name, each with the number of its calls: one for each piece of the batch, or one.
    pub fn calls(&self) -> IndexMap<&str, usize> {
        let mut calls = IndexMap::new();
        for action in self.schedule.iter().flatten() {
            let Action::Run { module, pieces } = action else { continue };
            let count: &mut usize = calls.entry(module.as_str()).or_default();
            *count = count.saturating_add(pieces.as_ref().map_or(1, ExactSizeIterator::len));
        }
        calls
    }

    /// The number of micro-batches that one update takes; `None` where its calls disagree.
    pub fn micro_batches(&self) -> Option<usize> {
        let (calls, mut found) = (self.calls(), 0);
        for module in &self.modules {
            let Some(&calls) = calls.get(module.name.as_str()) else { continue };
            let count = self.micro_batches_of(module)?.checked_mul(calls)?;
            if found != 0 && count != 0 && found != count {
                return None;
            }
            found = found.max(count);
        }
        Some(found.max(1))
    }
}
