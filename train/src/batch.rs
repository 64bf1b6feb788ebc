//! The data of a step on devices.

use crate::holdings::{Holdings, not_fed, upload};
use crate::placed::{Placed, Ranks};
use halite_bundle::Manifest;
use halite_bundle::tensors::Tensors;
use halite_runtime::Executor;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexMap;

pub(super) const UPLOAD: &str = "upload the batch with the step that it is for";

/// The part of a batch that one call reads.
pub(super) type Piece = IndexMap<String, Placed>;

/// The data of one step on the devices of its ranks, by name: for each stage what it reads, in the pieces that calls take one after another.
#[derive(Debug)]
pub struct DeviceBatch {
    stages: Vec<Vec<Piece>>,
}

impl DeviceBatch {
    /// Copies the pieces of a bundle's batch to the devices of the stages that read them, as far as these run here.
    pub(super) fn upload(executor: &dyn Executor, manifest: &Manifest, pieces: &[Tensors]) -> Result<Self> {
        let (holdings, here) = (Holdings::of(manifest), Ranks::stages(executor, manifest));
        let stage = |stage: usize| -> Result<Vec<Piece>> {
            let ranks = Ranks::of(executor, &manifest.mesh, stage);
            let is_here = here.contains(&stage);
            let read =
                |buffer: &&halite_bundle::Buffer| is_here && buffer.is_batch() && holdings.has(stage, &buffer.name);
            let batch = manifest.buffers.iter().filter(read);
            let piece = |piece: &Tensors| -> Result<Piece> {
                let given = batch.clone().filter_map(|buffer| Some((buffer, piece.get(&buffer.name)?)));
                given
                    .map(|(buffer, tensor)| Ok((buffer.name.clone(), upload(executor, &ranks, buffer, tensor)?)))
                    .collect()
            };
            pieces.iter().map(piece).collect()
        };
        Ok(Self { stages: (0..holdings.stages()).map(stage).collect::<Result<_>>()? })
    }

    /// The number of pieces.
    pub(super) fn pieces(&self) -> usize {
        self.stages.first().map_or(0, Vec::len)
    }

    /// The piece of this number that a stage reads; the first one for a call that reads none.
    ///
    /// # Errors
    /// When there are fewer.
    pub(super) fn piece(&self, stage: usize, number: usize) -> Result<&Piece> {
        self.stages.get(stage).and_then(|pieces| pieces.get(number)).ok_or_else(another_step)
    }

    /// Checks that this executor runs on the buffers.
    pub(super) fn check_owner(&self, executor: &dyn Executor) -> Result<()> {
        let is_foreign = |placed: &Placed| placed.parts().iter().any(|part| !executor.owns(part.as_ref()));
        match self.stages.iter().flatten().flatten().find(|(_, placed)| is_foreign(placed)) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{name}` of the batch is on a device of another executor");
                Err(Diagnostic::error(codes::TENSORS, message).help(UPLOAD))
            }
        }
    }

    /// Copies them back, as one batch.
    pub(super) fn download(&self) -> Result<Tensors> {
        let mut tensors = Tensors::new();
        for pieces in &self.stages {
            let Some((first, rest)) = pieces.split_first() else { continue };
            for (name, placed) in first {
                if !tensors.contains_key(name) {
                    tensors.insert(name.clone(), joined(name, placed, rest)?);
                }
            }
        }
        Ok(tensors)
    }
}

/// The pieces of one input, one after another.
fn joined(name: &str, first: &Placed, rest: &[Piece]) -> Result<HostTensor> {
    let start = first.download()?;
    let (dtype, mut shape) = (start.dtype(), start.shape().clone());
    let mut bytes = start.into_bytes();
    for piece in rest {
        bytes.extend(piece.get(name).ok_or_else(|| not_fed(name))?.download()?.into_bytes());
    }
    if let Some(first) = shape.first_mut() {
        *first *= 1 + rest.len();
    }
    let tensor = HostTensor::from_bytes(dtype, shape, bytes);
    tensor.map_err(|_| Diagnostic::bug("pieces of a batch that differ"))
}

pub(super) fn another_step() -> Diagnostic {
    Diagnostic::error(codes::TENSORS, "the batch has other micro-batches than this step takes").help(UPLOAD)
}
