//! What runs of one bundle on one corpus share.

use super::Corpus;
use super::data::BatchShape;
use crate::bundle::Bundle;
use crate::execute::LoadedModule;
use halite_runtime::{Buffer, Executor};
use halite_spec::{BufferSlot, ConfigValue, ModuleRole};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};

/// The modules of a bundle, compiled for a device, and the batches that they are run on.
pub(crate) struct Programs<'a> {
    pub(super) executor: &'a dyn Executor,
    corpus: &'a Corpus,
    pub(super) shape: BatchShape,
    pub(super) train_step: LoadedModule,
    /// Absent when the bundle has none or nothing is held out.
    pub(super) eval: Option<LoadedModule>,
    /// The batches of an evaluation, on the device.
    pub(super) held_out: Vec<Buffer>,
}

impl<'a> Programs<'a> {
    /// Compiles the modules for the first device; an evaluation runs on at most `eval_batches` batches.
    ///
    /// # Errors
    /// As [`check_corpus`]; when a module does not compile or the executor fails.
    pub(crate) fn load(
        executor: &'a dyn Executor,
        bundle: &Bundle,
        corpus: &'a Corpus,
        eval_batches: usize,
    ) -> Result<Self> {
        let shape = check(bundle, corpus)?;
        let train_step = LoadedModule::load(executor, bundle, bundle.module_with_role(ModuleRole::TrainStep)?)?;
        train_step.output("loss")?;
        let count = corpus.held_out_batches(shape, eval_batches);
        let eval = match bundle.module_with_role(ModuleRole::Eval) {
            Ok(entry) if count > 0 => Some(LoadedModule::load(executor, bundle, entry)?),
            _ => None,
        };
        let upload = |index| Ok(executor.upload(&corpus.held_out_batch(shape, index, count), 0)?);
        let held_out = (0..count).map(upload).collect::<Result<_>>()?;
        Ok(Self { executor, corpus, shape, train_step, eval, held_out })
    }

    /// The batch of an update, its number counted from 1.
    pub(crate) fn batch(&self, seed: u64, step: u64) -> HostTensor {
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
    bundle.module_with_role(ModuleRole::TrainStep)?;
    let shape = batch_shape(bundle)?;
    corpus.check(shape)?;
    Ok(shape)
}

/// The shape of the one batch input that text is to fill, and whether its tokens can be bytes.
fn batch_shape(bundle: &Bundle) -> Result<BatchShape> {
    let is_fed = |buffer: &&halite_spec::Buffer| buffer.slot == BufferSlot::Batch && buffer.content.is_none();
    let batches: Vec<_> = bundle.manifest.buffers.iter().filter(is_fed).collect();
    let [batch] = batches[..] else {
        let message = format!("the model takes {} batch inputs, training on text feeds one", batches.len());
        return Err(Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`"));
    };
    let ([rows, width], DType::S32) = (&batch.shape[..], batch.dtype) else {
        let message = format!("the batch `{}` is not `s32[batch, seq + 1]`", batch.name);
        return Err(Diagnostic::error(codes::MODULE, message).help("run its modules with `halite run`"));
    };
    match bundle.manifest.model.config.get("vocab") {
        Some(ConfigValue::Int(vocab)) if *vocab < 256 => {
            let message = format!("the model knows {vocab} tokens, bytes need 256");
            Err(Diagnostic::error(codes::TEXT, message).help("compile with `--set vocab=256`"))
        }
        _ => Ok(BatchShape { rows: *rows, width: *width }),
    }
}
