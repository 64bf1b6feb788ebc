//! Micro-batches: the pieces of an update's batch that its calls take.

use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, Manifest, contradiction};
use halite_support::{Diagnostic, Result};
use halite_tensor::HostTensor;

/// Numbers of micro-batches.
#[derive(Clone, Copy)]
pub(super) struct MicroBatches {
    /// Micro-batches of an update.
    pub(super) of_update: usize,
    /// Micro-batches of a call that reads the batch.
    pub(super) of_call: usize,
}

impl MicroBatches {
    /// The numbers of micro-batches in the schedule of a bundle.
    ///
    /// # Errors
    /// When its calls disagree.
    pub(super) fn of(manifest: &Manifest) -> Result<Self> {
        let disagree = || contradiction("the calls of the schedule read different numbers of micro-batches");
        let of_update = manifest.micro_batches().ok_or_else(disagree)?;
        let calls = manifest.calls();
        let called = manifest.modules.iter().filter(|module| calls.contains_key(module.name.as_str()));
        let micro_batches = called.filter_map(|module| manifest.micro_batches_of(module));
        Ok(Self { of_update, of_call: micro_batches.max().unwrap_or(1).max(1) })
    }
}

/// A buffer for `count` pieces of a buffer of the batch, one after another along the first dimension.
pub(super) fn times(buffer: &Buffer, count: usize) -> Buffer {
    let mut buffer = buffer.clone();
    if let Some(first) = buffer.shape.first_mut() {
        *first *= count;
    }
    buffer
}

/// Tensors cut into equal pieces along the first dimension.
///
/// # Errors
/// When they cannot be cut so: a bug, as their shapes were checked before.
pub(super) fn cut(tensors: &Tensors, pieces: usize) -> Result<Vec<Tensors>> {
    if pieces == 1 {
        return Ok(vec![tensors.clone()]);
    }
    let piece =
        |at: usize| tensors.iter().map(|(name, tensor)| Ok((name.clone(), part(tensor, at, pieces)?))).collect();
    (0..pieces).map(piece).collect()
}

fn part(tensor: &HostTensor, at: usize, pieces: usize) -> Result<HostTensor> {
    let mut shape = tensor.shape().clone();
    let size = tensor.bytes().len() / pieces;
    if let Some(first) = shape.first_mut() {
        *first /= pieces;
    }
    let bytes = tensor.bytes()[at * size..(at + 1) * size].to_vec();
    HostTensor::from_bytes(tensor.dtype(), shape, bytes)
        .map_err(|_| Diagnostic::bug("a batch that is no whole number of micro-batches"))
}
