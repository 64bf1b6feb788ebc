//! The stages of a pipeline.

use crate::{Cuts, Parallel, Recipe};
use halite_schedule::{Pipeline, ScheduleError, ScheduleKind};
use halite_support::{Diagnostic, Result, codes};

impl Recipe {
    /// The number of stages of the pipeline, 1 where there is none.
    pub fn stages(&self) -> u32 {
        self.parallel.as_ref().map_or(1, |parallel| parallel.pipeline)
    }

    /// Where the recipe says that the model is cut; `None` leaves it to the costs of its parts.
    pub fn cuts(&self) -> Option<&Cuts> {
        self.parallel.as_ref()?.stages.as_ref()
    }

    /// The stages, their chunks and the micro-batches of an update, and the schedule by which these are run.
    ///
    /// # Errors
    /// When there is no such schedule, or cuts are of another number of parts, at the key to change; as [`sizes`](Self::sizes).
    pub fn pipeline(&self) -> Result<(Pipeline, ScheduleKind)> {
        let (stages, chunks, kind) = match &self.parallel {
            Some(Parallel { pipeline, chunks, schedule, .. }) => (*pipeline as usize, *chunks as usize, *schedule),
            None => (1, 1, ScheduleKind::OneForwardOneBackward),
        };
        let micro_batches = self.sizes()?.accumulate.try_into().unwrap_or(usize::MAX);
        let pipeline = Pipeline::new(stages, chunks, micro_batches).map_err(|error| {
            let help = "choose fewer stages, chunks or micro-batches";
            clash(error.to_string(), "parallel.pipeline", help.to_owned())
        })?;
        kind.kind().check(&pipeline).map_err(|error| self.refused(&error))?;
        self.cuts().map_or(Ok(()), |cuts| cuts.check(&pipeline))?;
        Ok((pipeline, kind))
    }

    /// The refusal of a schedule, at the key to change.
    fn refused(&self, error: &ScheduleError) -> Diagnostic {
        let (key, help) = match *error {
            ScheduleError::Chunks { chunks: 1, .. } => {
                ("parallel.schedule", "set `parallel.chunks = 2`, or leave out `parallel.schedule`".to_owned())
            }
            ScheduleError::Chunks { .. } => (
                "parallel.chunks",
                "set `parallel.schedule = \"interleaved\"`, or leave out `parallel.chunks`".to_owned(),
            ),
            ScheduleError::MicroBatches { stages, micro_batches, .. } => {
                let near = (micro_batches.div_ceil(stages) * stages) as u64;
                match self.accumulate {
                    Some(_) => ("accumulate", format!("set `accumulate = {near}`, or another `parallel.schedule`")),
                    None if self.parallel.as_ref().is_none_or(|parallel| parallel.global_batch.is_none()) => {
                        ("parallel.schedule", format!("set `accumulate = {near}`, or another `parallel.schedule`"))
                    }
                    None => {
                        let all = self.sizes().map_or(near, |sizes| sizes.batch * sizes.data * near);
                        let help = format!("set `parallel.global_batch = {all}`, or another `parallel.schedule`");
                        ("parallel.global_batch", help)
                    }
                }
            }
            _ => ("parallel.schedule", "choose another `parallel.schedule`".to_owned()),
        };
        clash(error.to_string(), key, help)
    }
}

fn clash(message: String, key: &str, help: String) -> Diagnostic {
    Diagnostic::error(codes::RECIPE_CLASH, message).key(key).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accumulate, ModelChoice, Optimizer};

    fn pipeline(pipeline: u32, chunks: u32, schedule: ScheduleKind, steps: u32) -> Result<(Pipeline, ScheduleKind)> {
        let recipe = Recipe {
            accumulate: Some(Accumulate { steps, form: None }),
            parallel: Some(Parallel { pipeline, chunks, schedule, ..Parallel::default() }),
            ..Recipe::new(ModelChoice::new("llama"), 4, 8, Optimizer::new("sgd", 0.1))
        };
        recipe.pipeline()
    }

    #[test]
    fn a_refusal_names_the_key_to_change() {
        let key = |refused: Result<(Pipeline, ScheduleKind)>| refused.unwrap_err().recipe_key().map(str::to_owned);
        let (plain, interleaved) = (ScheduleKind::OneForwardOneBackward, ScheduleKind::Interleaved);
        assert_eq!(pipeline(4, 1, plain, 6).unwrap().0, Pipeline::new(4, 1, 6).unwrap());
        assert_eq!(key(pipeline(4, 2, plain, 8)).as_deref(), Some("parallel.chunks"));
        let error = pipeline(4, 2, interleaved, 6).unwrap_err();
        assert_eq!(error.help_text(), Some("set `accumulate = 8`, or another `parallel.schedule`"));
        assert_eq!(key(Err(error)).as_deref(), Some("accumulate"));
        assert_eq!(key(pipeline(u32::MAX, 1, plain, 8)).as_deref(), Some("parallel.pipeline"));
    }
}
