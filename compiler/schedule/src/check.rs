//! The rules of schedules.

use crate::{Action, Pipeline, Run, ScheduleError, Task, Transfer};
use std::collections::{HashMap, HashSet};

/// # Errors
/// The first rule that a schedule breaks.
pub(crate) fn check(pipeline: &Pipeline, lists: &[Vec<Action>]) -> Result<(), ScheduleError> {
    if lists.len() != pipeline.stages() {
        return Err(ScheduleError::Stages { found: lists.len(), expected: pipeline.stages() });
    }
    for (stage, list) in lists.iter().enumerate() {
        let mut done = Stage { pipeline, stage, done: HashSet::new(), next: HashMap::new() };
        for (at, &action) in list.iter().enumerate() {
            done.act(action).map_err(|reason| ScheduleError::Action { stage, at, action, reason })?;
        }
        done.finish()?;
    }
    links(pipeline, lists)
}

/// The actions that a stage has done.
struct Stage<'a> {
    pipeline: &'a Pipeline,
    stage: usize,
    done: HashSet<Action>,
    /// The micro-batch of which each part makes the gradients by weights next.
    next: HashMap<usize, usize>,
}

impl Stage<'_> {
    fn has(&self, action: Action) -> bool {
        self.done.contains(&action)
    }

    fn ran(&self, task: Task, of: Run) -> bool {
        self.has(Action::Run(Run { task, ..of }))
    }

    /// Notes an action, or says which rule it breaks.
    fn act(&mut self, action: Action) -> Result<(), &'static str> {
        if self.has(Action::Update) {
            return Err("nothing follows the update");
        }
        if self.has(Action::Reduce) && action != Action::Update {
            return Err("only the update follows the sum over stages");
        }
        match action {
            Action::Run(run) => self.run(run)?,
            Action::Send(transfer) => self.send(transfer)?,
            Action::Receive(transfer) => {
                let to = transfer.to_part(self.pipeline).map(|part| self.pipeline.stage_of(part));
                if self.is_out_of_range(transfer.part, transfer.micro_batch) || to != Some(self.stage) {
                    return Err("no part of this stage reads that");
                }
            }
            Action::Reduce => {}
            Action::Update if self.has(Action::Reduce) => {}
            Action::Update => return Err("the sum over stages comes before the update"),
        }
        if self.done.insert(action) { Ok(()) } else { Err("once before already") }
    }

    fn is_out_of_range(&self, part: usize, micro_batch: usize) -> bool {
        part >= self.pipeline.parts() || micro_batch >= self.pipeline.micro_batches()
    }

    fn run(&mut self, run: Run) -> Result<(), &'static str> {
        let Run { task, part, micro_batch } = run;
        if self.is_out_of_range(part, micro_batch) || self.pipeline.stage_of(part) != self.stage {
            return Err("this stage has no such part, or there is no such micro-batch");
        }
        if Transfer::into(run, self.pipeline).is_some_and(|transfer| !self.has(Action::Receive(transfer))) {
            return Err("it reads values that are not received before");
        }
        self.of_same_stage(run)?;
        let needs = match task {
            Task::Forward => None,
            Task::Backward | Task::BackwardInput => Some(Task::Forward),
            Task::BackwardWeights => Some(Task::BackwardInput),
        };
        if needs.is_some_and(|task| !self.ran(task, run)) {
            return Err("it differentiates what has not run before");
        }
        if task == Task::Backward && self.ran(Task::BackwardInput, run)
            || task == Task::BackwardInput && self.ran(Task::Backward, run)
        {
            return Err("the gradient by the input is made twice");
        }
        if matches!(task, Task::Backward | Task::BackwardWeights) {
            let next = self.next.entry(part).or_default();
            if *next != micro_batch {
                return Err("gradients by weights are added up in the order of micro-batches");
            }
            *next += 1;
        }
        Ok(())
    }

    /// Where the part before or after is on the same stage, it has run.
    fn of_same_stage(&self, run: Run) -> Result<(), &'static str> {
        let Run { task, part, .. } = run;
        let is_here = |part: &usize| *part < self.pipeline.parts() && self.pipeline.stage_of(*part) == self.stage;
        let ran = match task {
            Task::Forward => {
                let before = part.checked_sub(1).filter(is_here);
                before.is_none_or(|part| self.ran(Task::Forward, Run { part, ..run }))
            }
            Task::Backward | Task::BackwardInput => {
                let after = Some(part + 1).filter(is_here);
                let tasks = [Task::Backward, Task::BackwardInput];
                after.is_none_or(|part| tasks.iter().any(|&task| self.ran(task, Run { part, ..run })))
            }
            Task::BackwardWeights => true,
        };
        if ran { Ok(()) } else { Err("it reads values of a part that has not run before") }
    }

    fn send(&self, transfer: Transfer) -> Result<(), &'static str> {
        let Transfer { part, micro_batch, .. } = transfer;
        let run = |task| Run { task, part, micro_batch };
        let makes = |&task: &Task| Transfer::out_of(run(task), self.pipeline) == Some(transfer);
        let tasks = [Task::Forward, Task::Backward, Task::BackwardInput];
        if !tasks.iter().filter(|task| makes(task)).any(|&task| self.ran(task, run(task))) {
            return Err("it sends what this stage has not made before, or no other stage reads");
        }
        Ok(())
    }

    /// # Errors
    /// The first action that is missing.
    fn finish(&self) -> Result<(), ScheduleError> {
        let missing = |action| Err(ScheduleError::Missing { stage: self.stage, action });
        for part in self.pipeline.parts_of(self.stage) {
            for micro_batch in 0..self.pipeline.micro_batches() {
                let run = |task| Run { task, part, micro_batch };
                let ran = |task| self.ran(task, run(task));
                let halves = ran(Task::BackwardInput) && ran(Task::BackwardWeights);
                let wanted = match (ran(Task::Forward), ran(Task::Backward), halves) {
                    (false, ..) => Task::Forward,
                    (true, false, false) if ran(Task::BackwardInput) => Task::BackwardWeights,
                    (true, false, false) => Task::Backward,
                    _ => continue,
                };
                return missing(Action::Run(run(wanted)));
            }
        }
        if self.has(Action::Update) { Ok(()) } else { missing(Action::Update) }
    }
}

/// Holds transfers to both of their sides: what is received was sent, and what is sent is received.
///
/// # Errors
/// The first transfer of which a side is missing.
fn links(pipeline: &Pipeline, lists: &[Vec<Action>]) -> Result<(), ScheduleError> {
    let actions = || lists.iter().flatten().copied();
    let all: HashSet<Action> = actions().collect();
    let other_side = |action| match action {
        Action::Send(transfer) => {
            let to = transfer.to_part(pipeline).map(|part| pipeline.stage_of(part));
            to.map(|stage| (stage, Action::Receive(transfer)))
        }
        Action::Receive(transfer) => Some((pipeline.stage_of(transfer.part), Action::Send(transfer))),
        Action::Run(_) | Action::Reduce | Action::Update => None,
    };
    let missing = actions().filter_map(other_side).find(|(_, action)| !all.contains(action));
    missing.map_or(Ok(()), |(stage, action)| Err(ScheduleError::Missing { stage, action }))
}
