//! Playing a schedule: when each stage does what.

use crate::{Action, Pipeline, Run, ScheduleError, Task, Transfer};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The costs of a pipeline, in any unit of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Of the forward of each part.
    pub forward: Vec<u64>,
    /// Of the gradient by the input of each part.
    pub input: Vec<u64>,
    /// Of the gradients by the weights of each part.
    pub weights: Vec<u64>,
    /// Of a transfer, from its end at the sender to its beginning at the receiver.
    pub transfer: u64,
}

impl Costs {
    /// 1 for a forward, for the gradient by an input and for those by weights; nothing for a transfer.
    pub fn equal(pipeline: &Pipeline) -> Self {
        let one = vec![1; pipeline.parts()];
        Self { forward: one.clone(), input: one.clone(), weights: one, transfer: 0 }
    }

    fn of(&self, run: Run) -> u64 {
        let of = |costs: &[u64]| costs.get(run.part).copied().unwrap_or(0);
        match run.task {
            Task::Forward => of(&self.forward),
            Task::Backward => of(&self.input).saturating_add(of(&self.weights)),
            Task::BackwardInput => of(&self.input),
            Task::BackwardWeights => of(&self.weights),
        }
    }
}

/// How a sender and a receiver meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The sender goes on; the receiver waits until the values are there. Values are told apart by what they are, not by their order.
    Buffered,
    /// Both wait for each other, as in a collective of two ranks.
    Rendezvous,
}

/// The time of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Its beginning. Waiting comes before.
    pub start: u64,
    /// Its end.
    pub end: u64,
}

/// The times of all actions of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeline {
    /// For each stage, the time of each action of its list.
    pub stages: Vec<Vec<Span>>,
    /// For each stage, the time that it spends on runs.
    busy: Vec<u64>,
}

impl Timeline {
    /// The time at which all stages are done.
    pub fn end(&self) -> u64 {
        self.stages.iter().filter_map(|spans| spans.last()).map(|span| span.end).max().unwrap_or(0)
    }

    /// The time that a stage waits, from the beginning to the end of all.
    pub fn idle(&self, stage: usize) -> u64 {
        self.end().saturating_sub(self.busy.get(stage).copied().unwrap_or(0))
    }

    /// The share of the time of all stages in which they wait, from 0 to 1.
    pub fn bubble(&self) -> f64 {
        let all = self.end() as f64 * self.stages.len() as f64;
        let idle: u64 = (0..self.stages.len()).map(|stage| self.idle(stage)).sum();
        if all == 0.0 { 0.0 } else { idle as f64 / all }
    }
}

/// Plays lists.
///
/// # Errors
/// [`ScheduleError::Deadlock`] where stages wait for one another for ever.
pub(crate) fn run(
    pipeline: &Pipeline,
    transport: Transport,
    lists: &[Vec<Action>],
    costs: &Costs,
) -> Result<Timeline, ScheduleError> {
    Player::new(pipeline, costs, transport, lists).play()
}

/// Stages under way.
struct Player<'a> {
    pipeline: &'a Pipeline,
    costs: &'a Costs,
    transport: Transport,
    lists: &'a [Vec<Action>],
    spans: Vec<Vec<Span>>,
    /// For each stage, the time at which it is free.
    now: Vec<u64>,
    busy: Vec<u64>,
    /// When what was sent arrives.
    arrives: HashMap<Transfer, u64>,
}

impl<'a> Player<'a> {
    fn new(pipeline: &'a Pipeline, costs: &'a Costs, transport: Transport, lists: &'a [Vec<Action>]) -> Self {
        let stages = lists.len();
        let (now, busy, spans) = (vec![0; stages], vec![0; stages], vec![Vec::new(); stages]);
        Self { pipeline, costs, transport, lists, spans, now, busy, arrives: HashMap::new() }
    }

    fn play(mut self) -> Result<Timeline, ScheduleError> {
        // Stages that may go on. Who waits is woken by whom it waits for.
        let mut awake: Vec<usize> = (0..self.lists.len()).rev().collect();
        while let Some(stage) = awake.pop() {
            while let Some(action) = self.head(stage) {
                if !self.act(stage, action, &mut awake) {
                    break;
                }
            }
        }
        let waiting: Vec<_> = (0..self.lists.len()).filter_map(|stage| Some((stage, self.head(stage)?))).collect();
        match waiting.is_empty() {
            true => Ok(Timeline { stages: self.spans, busy: self.busy }),
            false => Err(ScheduleError::Deadlock { waiting }),
        }
    }

    /// The next action of a stage.
    fn head(&self, stage: usize) -> Option<Action> {
        self.lists[stage].get(self.spans[stage].len()).copied()
    }

    /// Lets a stage act, if it can; adds the stages that may go on after it.
    fn act(&mut self, stage: usize, action: Action, awake: &mut Vec<usize>) -> bool {
        match action {
            Action::Run(run) => {
                let cost = self.costs.of(run);
                self.busy[stage] = self.busy[stage].saturating_add(cost);
                self.pass(stage, 0, cost);
            }
            Action::Update => self.pass(stage, 0, 0),
            Action::Reduce => return self.reduce(awake),
            Action::Send(transfer) => return self.send(stage, transfer, awake),
            Action::Receive(transfer) => {
                if let Some(&at) = self.arrives.get(&transfer) {
                    self.pass(stage, at, 0);
                    return true;
                }
                // A sender that waits for this one goes on, and then this one does.
                let from = self.pipeline.stage_of(transfer.part);
                if from < self.lists.len() && self.head(from) == Some(Action::Send(transfer)) {
                    awake.push(from);
                }
                return false;
            }
        }
        true
    }

    fn send(&mut self, stage: usize, transfer: Transfer, awake: &mut Vec<usize>) -> bool {
        let to = transfer.to_part(self.pipeline).map(|part| self.pipeline.stage_of(part));
        let receives = to.filter(|&to| to < self.lists.len() && self.head(to) == Some(Action::Receive(transfer)));
        let start = match (self.transport, receives) {
            (Transport::Buffered, _) => self.now[stage],
            (Transport::Rendezvous, Some(to)) => self.now[stage].max(self.now[to]),
            (Transport::Rendezvous, None) => return false,
        };
        let arrives = start.saturating_add(self.costs.transfer);
        self.arrives.insert(transfer, arrives);
        match self.transport {
            Transport::Buffered => self.pass(stage, 0, 0),
            Transport::Rendezvous => self.pass(stage, start, self.costs.transfer),
        }
        awake.extend(receives);
        true
    }

    /// All stages add up their scalars once all are there.
    fn reduce(&mut self, awake: &mut Vec<usize>) -> bool {
        let stages = 0..self.lists.len();
        if stages.clone().any(|stage| self.head(stage) != Some(Action::Reduce)) {
            return false;
        }
        let at = self.now.iter().copied().max().unwrap_or(0);
        stages.clone().for_each(|stage| self.pass(stage, at, 0));
        awake.extend(stages);
        true
    }

    /// The stage acts, from when it is free and no earlier than `at`.
    fn pass(&mut self, stage: usize, at: u64, cost: u64) {
        let start = self.now[stage].max(at);
        let end = start.saturating_add(cost);
        self.now[stage] = end;
        self.spans[stage].push(Span { start, end });
    }
}
