//! Compiled modules that the runs of one bundle share.

use super::feed::Feed;
use super::{DeviceBatch, Peers, RecipeData, TrainStep};
use crate::execute::KernelChoice;
use halite_bundle::Bundle;
use halite_data::{Data, HeldOut};
use halite_runtime::Executor;
use halite_support::{Diagnostics, Result};
use std::path::Path;
use std::sync::Arc;

/// The compiled training step of a bundle, and the data that it is evaluated on.
pub struct Programs {
    /// The batch inputs of the model.
    pub feed: Feed,
    /// A step without state: each run has its own state.
    step: TrainStep,
    /// The held-out data; empty when the bundle has no evaluation.
    pub held_out: Vec<Evaluation>,
    /// Warnings on held-out examples that make no whole batch.
    pub warnings: Diagnostics,
}

/// Data that are held out, on the devices.
pub struct Evaluation {
    /// The name of the data in metrics; it may be empty where there is only one data set.
    pub name: String,
    /// The batches of the data.
    pub batches: Vec<DeviceBatch>,
}

impl Programs {
    /// Compiles the modules. An evaluation runs on all held-out data, and at most on `eval_batches` batches of each data set.
    ///
    /// # Errors
    /// When the bundle lacks a training step on sequences, the held-out data cannot be read or have tokens that the model does not
    /// know, a module does not compile or the executor fails.
    pub fn load(
        executor: Arc<dyn Executor>,
        bundle: &Bundle,
        held_out: Vec<HeldOut>,
        eval_batches: usize,
    ) -> std::result::Result<Self, Diagnostics> {
        let feed = Feed::of(bundle)?;
        let is_evaluated = eval_batches > 0 && !held_out.is_empty();
        let step = TrainStep::load_parts(executor, bundle, KernelChoice::ByPlatform, is_evaluated)?;
        let held_out = if step.has_eval() { held_out } else { Vec::new() };
        let mut warnings = Diagnostics::new();
        let upload = |held_out| evaluation(&feed, &step, held_out, eval_batches, &mut warnings);
        let held_out = held_out.into_iter().map(upload).collect::<std::result::Result<_, _>>()?;
        Ok(Self { feed, step, held_out, warnings })
    }

    /// The same programs as one of several processes.
    ///
    /// # Errors
    /// As [`TrainStep::with_peers`].
    pub fn with_peers(self, peers: &Peers) -> std::result::Result<Self, Diagnostics> {
        Ok(Self { step: self.step.with_peers(peers)?, ..self })
    }

    /// A step of its own for a run.
    pub fn step(&self) -> TrainStep {
        self.step.fork()
    }
}

/// The batches that cover held-out data once, where these are no more than `most`; at least one.
fn evaluation(
    feed: &Feed,
    step: &TrainStep,
    held_out: HeldOut,
    most: usize,
    warnings: &mut Diagnostics,
) -> std::result::Result<Evaluation, Diagnostics> {
    let HeldOut { name, mut data } = held_out;
    feed.check(data.as_ref())?;
    let mut batches = Vec::new();
    warnings.extend(feed.once(data.as_mut(), most, |batch| {
        batches.push(step.upload(&batch)?);
        Ok(())
    })?);
    Ok(Evaluation { name, batches })
}

/// Checks that the model of a bundle knows the ids of the tokenizer that its recipe names, as far as that can be read here. It opens no
/// data.
///
/// # Errors
/// When the model knows fewer ids, or cannot be trained on such data at all.
pub fn check_tokenizer(bundle: &Bundle) -> Result<()> {
    let Some(table) = &bundle.manifest.recipe.data else { return Ok(()) };
    let Ok(feed) = Feed::of_batch(bundle) else { return Ok(()) };
    if RecipeData::new(bundle, table.clone(), ".")?.train_config().has_examples()? {
        return Ok(());
    }
    match halite_data::open_tokenizer(&table.tokenizer, Path::new(".")) {
        Ok(tokenizer) => feed.check_ids(tokenizer.vocabulary()),
        Err(_) => Ok(()),
    }
}

/// Checks that a bundle can be trained on data. [`train`](super::train) does so too; this needs no executor.
///
/// # Errors
/// When the bundle lacks a training step on sequences of tokens, the data cannot be opened, or the model does not know their tokens.
pub fn check_data(bundle: &Bundle, data: &dyn Data) -> Result<()> {
    let feed = Feed::of(bundle)?;
    let opened = data.open(&feed.takes, 0)?;
    feed.check(opened.train.as_ref())?;
    opened.held_out.iter().try_for_each(|held_out| feed.check(held_out.data.as_ref()))
}
