//! `interleaved`, after Narayanan et al. (2021), "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM".

use crate::kind::in_turn;
use crate::{Kind, Pipeline, Run, ScheduleError, Task};

/// As many micro-batches as there are stages go through one chunk, then through the next.
pub(super) struct Interleaved;

impl Interleaved {
    /// The runs of a stage, of the first chunk first, or of the last.
    fn rounds(pipeline: &Pipeline, stage: usize, task: Task) -> Vec<Run> {
        let (stages, chunks) = (pipeline.stages(), pipeline.chunks());
        let run = |at: usize| {
            let (round, within) = (at / (stages * chunks), at % (stages * chunks));
            let (chunk, micro_batch) = (within / stages, round * stages + within % stages);
            let chunk = if task == Task::Forward { chunk } else { chunks - 1 - chunk };
            Run { task, part: chunk * stages + stage, micro_batch }
        };
        (0..pipeline.micro_batches() * chunks).map(run).collect()
    }
}

impl Kind for Interleaved {
    fn check(&self, pipeline: &Pipeline) -> Result<(), ScheduleError> {
        let chunks = pipeline.chunks();
        if chunks == 1 {
            return Err(ScheduleError::Chunks { kind: "interleaved", wanted: "several chunks", chunks });
        }
        let (stages, micro_batches) = (pipeline.stages(), pipeline.micro_batches());
        if micro_batches.is_multiple_of(stages) {
            return Ok(());
        }
        Err(ScheduleError::MicroBatches { kind: "interleaved", stages, micro_batches })
    }

    fn order(&self, pipeline: &Pipeline, stage: usize) -> Vec<Run> {
        let [forward, backward] = [Task::Forward, Task::Backward].map(|task| Self::rounds(pipeline, stage, task));
        in_turn(&forward, &backward, self.in_flight(pipeline, stage))
    }

    /// The last stage has its first backward when all chunks but the last are through; each stage before it two runs later.
    fn in_flight(&self, pipeline: &Pipeline, stage: usize) -> usize {
        let ahead = (pipeline.chunks() - 1) * pipeline.stages() + 2 * (pipeline.stages() - 1 - stage) + 1;
        ahead.min(pipeline.micro_batches() * pipeline.chunks())
    }
}
