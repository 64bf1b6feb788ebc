//! What runs of one bundle on one corpus share.

use super::data::BatchShape;
use super::{Corpus, DeviceBatch, TrainStep};
use crate::execute::KernelChoice;
use crate::micro::MicroBatches;
use crate::scheduled::scheduled;
use halite_bundle::Bundle;
use halite_recipe::ConfigValue;
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{DType, HostTensor};
use std::sync::Arc;

/// The training step of a bundle, compiled, and the batches that it is run on.
pub struct Programs<'a> {
    corpus: &'a Corpus,
    /// The sizes of the batch of an update.
    pub shape: BatchShape,
    /// Without state: each run has its own.
    step: TrainStep,
    /// The batches of an evaluation, on the devices; none when the bundle has no evaluation or nothing is held out.
    pub held_out: Vec<DeviceBatch>,
}

impl<'a> Programs<'a> {
    /// Compiles the modules; an evaluation runs on at most `eval_batches` batches.
    ///
    /// # Errors
    /// As [`check_corpus`]; when a module does not compile or the executor fails.
    pub fn load(
        executor: Arc<dyn Executor>,
        bundle: &Bundle,
        corpus: &'a Corpus,
        eval_batches: usize,
    ) -> std::result::Result<Self, Diagnostics> {
        let shape = check(bundle, corpus)?;
        let evaluated = batch_shape(bundle)?;
        let count = corpus.held_out_batches(evaluated, eval_batches);
        let step = TrainStep::load_parts(executor, bundle, KernelChoice::ByPlatform, count > 0)?;
        let count = if step.has_eval() { count } else { 0 };
        let upload = |index| step.upload(&corpus.held_out_batch(evaluated, index, count));
        let held_out = (0..count).map(upload).collect::<std::result::Result<_, _>>()?;
        Ok(Self { corpus, shape, step, held_out })
    }

    /// A step of its own for a run.
    pub fn step(&self) -> TrainStep {
        self.step.fork()
    }

    /// The batch of an update, its number counted from 1.
    pub fn batch(&self, seed: u64, step: u64) -> HostTensor {
        self.corpus.batch(self.shape, seed, step - 1)
    }
}

/// Checks that a bundle can be trained on a corpus. [`train`](super::train) does so too; this needs no executor.
///
/// # Errors
/// When the bundle lacks a training step on bytes or the text is too short.
pub fn check_corpus(bundle: &Bundle, corpus: &Corpus) -> Result<()> {
    check(bundle, corpus).map(|_| ())
}

/// Whether a bundle can be trained on a corpus; the shape of a batch.
fn check(bundle: &Bundle, corpus: &Corpus) -> Result<BatchShape> {
    scheduled(bundle)?;
    let one = batch_shape(bundle)?;
    let shape = BatchShape { rows: one.rows * MicroBatches::of(&bundle.manifest)?.of_update, ..one };
    corpus.check(shape)?;
    Ok(shape)
}

/// The shape of the one input of a micro-batch that text is to fill, and whether its tokens can be bytes.
fn batch_shape(bundle: &Bundle) -> Result<BatchShape> {
    let is_fed = |buffer: &&halite_bundle::Buffer| buffer.is_batch() && buffer.content().is_none();
    let batches: Vec<_> = bundle.manifest.buffers.iter().filter(is_fed).collect();
    let [batch] = batches[..] else {
        let message = format!("the model takes {} batch inputs, training on text feeds one", batches.len());
        return Err(Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`"));
    };
    let ([rows, width], DType::S32) = (&batch.shape[..], batch.dtype) else {
        let message = format!("the batch `{}` is not `s32[batch, seq + 1]`", batch.name);
        return Err(Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`"));
    };
    match known_tokens(bundle, &batch.name) {
        Some(known) if known < 256 => {
            let message = format!("the model knows {known} tokens, bytes need 256");
            Err(Diagnostic::error(codes::TEXT, message).help("compile with `--set vocab=256`"))
        }
        _ => Ok(BatchShape { rows: *rows, width: *width }),
    }
}

/// How many tokens all modules know. Where the model does not tell, its configuration may.
fn known_tokens(bundle: &Bundle, batch: &str) -> Option<u64> {
    let manifest = &bundle.manifest;
    let ports = manifest.modules.iter().flat_map(|module| &module.inputs).filter(|port| port.name == batch);
    let ranges = ports.flat_map(|port| &port.ranges).map(|range| range.below);
    let stated = match manifest.model.config.get("vocab") {
        Some(ConfigValue::Int(vocab)) => u64::try_from(*vocab).ok(),
        _ => None,
    };
    ranges.min().or(stated)
}
