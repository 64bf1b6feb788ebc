//! The loss of a model on data.

use super::amount::HeldOutCount;
use super::feed::Feed;
use super::inference::Inference;
use super::metrics::Metrics;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Bundle, ModuleRole};
use halite_data::{Dataset, HeldOut};
use halite_runtime::Executor;
use halite_support::Diagnostic;
use halite_support::{Diagnostics, codes};
use indexmap::IndexMap;
use std::sync::Arc;

/// The result of an evaluation on data.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluated {
    /// The mean loss of a token, in nats; of other models, that of whatever their loss counts.
    pub loss: f64,
    /// The number of elements that it is the mean over.
    pub counted: HeldOutCount,
    /// The metrics of the model.
    pub metrics: IndexMap<String, f64>,
    /// A warning on examples that make no whole batch, with what was done with them.
    pub warning: Option<Diagnostic>,
}

impl Evaluated {
    /// The exponential of the mean loss of a token; `None` where it is of anything else.
    pub fn perplexity(&self) -> Option<f64> {
        self.counted.is_of_tokens().then(|| self.loss.exp())
    }
}

/// The evaluation of a bundle, with the weights of a state.
pub struct Evaluator {
    inference: Inference,
    feed: Feed,
}

impl Evaluator {
    /// Compiles the evaluation of a bundle, and copies the weights of a state to the devices.
    ///
    /// # Errors
    /// When the bundle has no evaluation, takes something else than sequences of tokens, the tensors are no state of its model, or the
    /// executor fails.
    pub fn load(executor: Arc<dyn Executor>, bundle: &Bundle, state: Tensors) -> Result<Self, Diagnostics> {
        let feed = Feed::of_batch(bundle)?;
        let inference = Inference::load(executor, bundle, &ModuleRole::EVAL, state)?;
        Ok(Self { inference, feed })
    }

    /// The loss on the batches that cover data once, as far as whole ones do, and at most on so many.
    ///
    /// # Errors
    /// When the data cannot be read or have tokens that the model does not know; when the executor fails, or the loss is not finite.
    pub fn evaluate(&mut self, data: &mut dyn Dataset, most: usize) -> Result<Evaluated, Diagnostics> {
        self.feed.check(data)?;
        let mut all = Metrics::default();
        let Self { inference, feed } = self;
        let warning = feed.once(data, most, |batch| {
            all.add(&Metrics::of(&inference.run(&batch)?));
            Ok(())
        })?;
        let counted = HeldOutCount::of(feed.amount, all.counted()?);
        let evaluated = Evaluated { loss: all.mean_loss(), counted, metrics: all.of_model(), warning };
        if evaluated.loss.is_finite() {
            return Ok(evaluated);
        }
        let error = Diagnostic::error(codes::DIVERGED, format!("the loss on these data is {}", evaluated.loss));
        Err(error.help("evaluate a state that was saved before the run diverged").into())
    }

    /// Evaluates each of several data sets. Returns the results by name, and the warnings. `tell` is called with each name before that
    /// data set is evaluated.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_each(
        &mut self,
        data: Vec<HeldOut>,
        most: usize,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(Vec<(String, Evaluated)>, Diagnostics), Diagnostics> {
        let mut warnings = Diagnostics::new();
        if let Some(first) = data.first() {
            // The tokenizer is that of all.
            warnings.extend(first.data.warnings());
        }
        let mut found = Vec::new();
        for HeldOut { name, mut data } in data {
            let name = if name.is_empty() { "held out".to_owned() } else { name };
            tell(&name);
            let evaluated = self.evaluate(data.as_mut(), most)?;
            warnings.extend(evaluated.warning.clone());
            found.push((name, evaluated));
        }
        Ok((found, warnings))
    }
}
