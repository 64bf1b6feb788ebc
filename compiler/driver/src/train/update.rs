//! One run under way: its state on the device and what it measured.

use super::programs::Programs;
use super::run::Observer;
use super::state::State;
use super::{EvalRecord, History, StepRecord};
use halite_runtime::Buffer;
use halite_support::Result;
use halite_tensor::HostTensor;
use indexmap::IndexMap;

/// A run under way.
pub(crate) struct Run<'a> {
    programs: &'a Programs<'a>,
    seed: u64,
    /// Every buffer of the state.
    pub(crate) state: State,
    /// What was measured so far.
    pub(crate) history: History,
}

impl<'a> Run<'a> {
    /// A run from this state; the seed is that of the order of data.
    pub(crate) fn new(programs: &'a Programs<'a>, seed: u64, state: State) -> Self {
        Self { programs, seed, state, history: History::default() }
    }

    /// Makes one update; `step` is its number from 1.
    pub(crate) fn step(&mut self, step: u64, observer: &mut dyn Observer) -> Result<()> {
        let Programs { executor, shape, train_step, .. } = self.programs;
        let batch = executor.upload(&self.programs.batch(self.seed, step), 0)?;
        let outputs = self.state.run(train_step, batch.as_ref())?;
        let tokens = step * (shape.rows * (shape.width - 1)) as u64;
        let record = StepRecord { step, tokens, metrics: scalars(&outputs)? };
        observer.stepped(&record);
        self.history.steps.push(record);
        Ok(())
    }

    /// Measures the loss on held-out text after `step` updates, when something is held out.
    pub(crate) fn evaluate(&mut self, step: u64, observer: &mut dyn Observer) -> Result<()> {
        let Some(module) = &self.programs.eval else { return Ok(()) };
        let (mut loss, mut count) = (0.0, 0.0);
        for batch in &self.programs.held_out {
            let outputs = scalars(&self.state.run(module, batch.as_ref())?)?;
            loss += outputs.get("loss").copied().unwrap_or(f64::NAN);
            count += outputs.get("count").copied().unwrap_or(f64::NAN);
        }
        let record = EvalRecord { step, held_out_loss: loss / count, held_out_tokens: count as u64 };
        observer.evaluated(&record);
        self.history.evals.push(record);
        Ok(())
    }

    /// Whether the last update and the last evaluation gave numbers.
    pub(crate) fn is_finite(&self) -> bool {
        let History { steps, evals } = &self.history;
        steps.last().is_none_or(|record| record.loss().is_finite())
            && evals.last().is_none_or(|record| record.held_out_loss.is_finite())
    }
}

/// Scalar outputs by name.
fn scalars(outputs: &IndexMap<String, Buffer>) -> Result<IndexMap<String, f64>> {
    let scalar = |tensor: HostTensor| tensor.f64s().first().copied().unwrap_or(f64::NAN);
    let scalars = outputs.iter().filter(|(_, buffer)| buffer.spec().shape.rank() == 0);
    scalars.map(|(name, buffer)| Ok((name.clone(), scalar(buffer.download()?)))).collect()
}
