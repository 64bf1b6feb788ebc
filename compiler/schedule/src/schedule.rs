//! A schedule: a list for each stage.

use crate::{
    Action, Costs, Pipeline, Run, ScheduleError, ScheduleKind, Task, Timeline, Transport, check, simulate, transfers,
};

/// The actions of each stage of a pipeline in one update, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    pipeline: Pipeline,
    transport: Transport,
    stages: Vec<Vec<Action>>,
}

impl Schedule {
    /// The schedule of a kind, for transfers of this kind. Each list ends with the sum of scalars over all stages and the update.
    ///
    /// # Errors
    /// When the kind is not for such pipelines.
    pub fn new(kind: ScheduleKind, pipeline: Pipeline, transport: Transport) -> Result<Self, ScheduleError> {
        kind.kind().check(&pipeline)?;
        let runs = (0..pipeline.stages()).map(|stage| kind.kind().order(&pipeline, stage)).collect();
        let mut stages = match transport {
            Transport::Buffered => transfers::beside_runs(&pipeline, runs),
            Transport::Rendezvous => transfers::in_one_order(&pipeline, runs)?,
        };
        stages.iter_mut().for_each(|list| list.extend([Action::Reduce, Action::Update]));
        Self::of_lists(pipeline, transport, stages)
    }

    /// A schedule of lists, as somebody wrote them.
    ///
    /// # Errors
    /// The first rule that they break: every part runs on every micro-batch, forward before backward, once each, on values that were
    /// received before; what is received was sent, and what is sent is received; gradients by weights are added up in the order of
    /// micro-batches; and no stages wait for one another for ever.
    pub fn of_lists(pipeline: Pipeline, transport: Transport, stages: Vec<Vec<Action>>) -> Result<Self, ScheduleError> {
        let schedule = Self { pipeline, transport, stages };
        check::check(&pipeline, &schedule.stages)?;
        schedule.simulate(&Costs::equal(&pipeline))?;
        Ok(schedule)
    }

    /// The pipeline that it is for.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// How its senders and receivers meet.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// The list of each stage.
    pub fn stages(&self) -> &[Vec<Action>] {
        &self.stages
    }

    /// The runs of a stage, in order.
    pub fn runs(&self, stage: usize) -> impl Iterator<Item = Run> {
        self.stages[stage].iter().filter_map(|action| if let Action::Run(run) = action { Some(*run) } else { None })
    }

    /// The most forwards of a stage whose backward is not done at a time: the residuals that it keeps.
    pub fn in_flight(&self, stage: usize) -> usize {
        let (mut now, mut most) = (0, 0);
        for run in self.runs(stage) {
            match run.task {
                Task::Forward => now += 1,
                Task::Backward | Task::BackwardWeights => now -= 1,
                Task::BackwardInput => {}
            }
            most = most.max(now);
        }
        most
    }

    /// Plays the schedule with these costs.
    ///
    /// # Errors
    /// Where stages wait for one another, which lists that passed the check do not.
    pub fn simulate(&self, costs: &Costs) -> Result<Timeline, ScheduleError> {
        simulate::run(&self.pipeline, self.transport, &self.stages, costs)
    }
}
