//! The buffers of each stage, and their way to its devices.

use crate::placed::{Placed, Placement, Ranks};
use halite_bundle::{Buffer, Manifest, PortRole};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use std::collections::HashSet;

/// The names of the buffers that each stage holds or is fed.
#[derive(Debug)]
pub(super) struct Holdings(Vec<Option<HashSet<String>>>);

impl Holdings {
    /// Those of the stages of a manifest: all of them where there is one stage.
    pub(super) fn of(manifest: &Manifest) -> Self {
        let stages = manifest.num_stages();
        if stages == 1 {
            return Self(vec![None]);
        }
        let mut held = vec![HashSet::new(); stages];
        for module in &manifest.modules {
            let buffers = module.inputs.iter().filter(|port| port.role == PortRole::Buffer);
            held[module.stage].extend(buffers.map(|port| port.name.clone()));
        }
        Self(held.into_iter().map(Some).collect())
    }

    /// The number of stages.
    pub(super) fn stages(&self) -> usize {
        self.0.len()
    }

    /// The first stage that holds a buffer, or is fed it.
    pub(super) fn first(&self, name: &str) -> Option<usize> {
        (0..self.stages()).find(|stage| self.has(*stage, name))
    }

    /// Whether a stage holds a buffer, or is fed it.
    pub(super) fn has(&self, stage: usize, name: &str) -> bool {
        self.0[stage].as_ref().is_none_or(|held| held.contains(name))
    }
}

/// Copies a tensor to the devices of ranks with the placement of a buffer. The tensor may hold several such buffers, one after another.
pub(super) fn upload(executor: &dyn Executor, ranks: &Ranks, buffer: &Buffer, tensor: &HostTensor) -> Result<Placed> {
    Placement::new(ranks, tensor.shape(), buffer.sharding.as_ref()).upload(executor, tensor)
}

pub(super) fn not_fed(name: &str) -> Diagnostic {
    Diagnostic::error(codes::TENSORS, format!("the tensor `{name}` is missing")).help("add it to the batch")
}
