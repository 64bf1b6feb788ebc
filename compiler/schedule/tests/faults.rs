//! Lists with a fault: each is refused.

use halite_schedule::{Action, Pipeline, Schedule, ScheduleKind, Task, Transfer, Transport};
use std::collections::BTreeMap;

type Lists = Vec<Vec<Action>>;

/// A fault at an action of a stage; `None` where it makes no fault there.
type Fault = fn(&Schedule, Lists, usize, usize) -> Option<Lists>;

fn with(mut lists: Lists, stage: usize, at: usize, action: Action) -> Option<Lists> {
    let is_new = lists[stage][at] != action;
    lists[stage][at] = action;
    is_new.then_some(lists)
}

const FAULTS: &[(&str, Fault)] = &[
    ("an action is missing", |_, mut lists, stage, at| {
        lists[stage].remove(at);
        Some(lists)
    }),
    ("an action stands twice", |_, mut lists, stage, at| {
        let again = lists[stage][at];
        lists[stage].insert(at, again);
        Some(lists)
    }),
    ("an action is that of another stage", |schedule, mut lists, stage, at| {
        if schedule.pipeline().stages() == 1 || matches!(lists[stage][at], Action::Reduce | Action::Update) {
            return None;
        }
        let moved = lists[stage].remove(at);
        lists[(stage + 1) % schedule.pipeline().stages()].insert(0, moved);
        Some(lists)
    }),
    ("another micro-batch", |schedule, lists, stage, at| {
        let count = schedule.pipeline().micro_batches();
        let next = |micro_batch: usize| (micro_batch + 1) % count;
        let action = match lists[stage][at] {
            Action::Run(run) => Action::Run(halite_schedule::Run { micro_batch: next(run.micro_batch), ..run }),
            Action::Send(sent) => Action::Send(Transfer { micro_batch: next(sent.micro_batch), ..sent }),
            Action::Receive(sent) => Action::Receive(Transfer { micro_batch: next(sent.micro_batch), ..sent }),
            Action::Reduce | Action::Update => return None,
        };
        with(lists, stage, at, action)
    }),
    ("a micro-batch that there is not", |schedule, lists, stage, at| {
        let Action::Run(run) = lists[stage][at] else { return None };
        with(
            lists,
            stage,
            at,
            Action::Run(halite_schedule::Run { micro_batch: schedule.pipeline().micro_batches(), ..run }),
        )
    }),
    ("another part", |schedule, lists, stage, at| {
        let pipeline = schedule.pipeline();
        let next = |part: usize| (part + pipeline.stages()) % pipeline.parts().max(2);
        let action = match lists[stage][at] {
            Action::Run(run) => Action::Run(halite_schedule::Run { part: next(run.part), ..run }),
            Action::Send(sent) => Action::Send(Transfer { part: next(sent.part), ..sent }),
            Action::Receive(sent) => Action::Receive(Transfer { part: next(sent.part), ..sent }),
            Action::Reduce | Action::Update => return None,
        };
        with(lists, stage, at, action)
    }),
    ("another task", |_, lists, stage, at| {
        let Action::Run(run) = lists[stage][at] else { return None };
        let task = match run.task {
            Task::Forward => Task::Backward,
            Task::Backward => Task::BackwardWeights,
            Task::BackwardInput => Task::Backward,
            Task::BackwardWeights => Task::BackwardInput,
        };
        with(lists, stage, at, Action::Run(halite_schedule::Run { task, ..run }))
    }),
    ("a send is a receive", |_, lists, stage, at| {
        let action = match lists[stage][at] {
            Action::Send(transfer) => Action::Receive(transfer),
            Action::Receive(transfer) => Action::Send(transfer),
            _ => return None,
        };
        with(lists, stage, at, action)
    }),
    ("a run before what it reads", |schedule, mut lists, stage, at| {
        // Where senders go on at once, a value is received right before it is read.
        let before = at.checked_sub(1).filter(|_| schedule.transport() == Transport::Buffered)?;
        let is_read = matches!(lists[stage][before], Action::Receive(_));
        lists[stage].swap(before, at);
        is_read.then_some(lists)
    }),
    ("the update before the sum over stages", |_, mut lists, stage, at| {
        let is_sum = lists[stage][at] == Action::Reduce;
        lists[stage].swap(at, at + usize::from(is_sum));
        is_sum.then_some(lists)
    }),
    ("transfers of one link swapped on one side", |schedule, mut lists, stage, at| {
        // Where senders go on at once, values are told apart by what they are.
        let pipeline = Some(schedule.pipeline()).filter(|_| schedule.transport() == Transport::Rendezvous)?;
        let link = |action: Action| match action {
            Action::Send(transfer) => Some((true, pipeline.stage_of(transfer.to_part(pipeline)?))),
            Action::Receive(transfer) => Some((false, pipeline.stage_of(transfer.part))),
            _ => None,
        };
        let own = link(lists[stage][at])?;
        let next = (at + 1..lists[stage].len()).find(|&next| link(lists[stage][next]) == Some(own))?;
        lists[stage].swap(at, next);
        Some(lists)
    }),
    ("gradients by weights in another order", |_, mut lists, stage, at| {
        let adds =
            |action| matches!(action, Action::Run(run) if matches!(run.task, Task::Backward | Task::BackwardWeights));
        let is_one = adds(lists[stage][at]);
        let next = (at + 1..lists[stage].len()).find(|&next| adds(lists[stage][next]))?;
        lists[stage].swap(at, next);
        is_one.then_some(lists)
    }),
];

#[test]
fn every_fault_is_refused() {
    let mut counts = BTreeMap::<&str, usize>::new();
    for kind in ScheduleKind::ALL {
        let chunks = if kind == ScheduleKind::Interleaved { 2 } else { 1 };
        for (stages, micro_batches) in [(1, 4), (2, 4), (3, 3)] {
            let pipeline = Pipeline::new(stages, chunks, micro_batches).unwrap();
            for transport in [Transport::Buffered, Transport::Rendezvous] {
                each_fault_is_refused(&Schedule::new(kind, pipeline, transport).unwrap(), &mut counts);
            }
        }
    }
    assert_eq!(counts.len(), FAULTS.len(), "{counts:?}");
    assert!(counts.values().sum::<usize>() > 2000, "{counts:?}");
}

fn each_fault_is_refused(schedule: &Schedule, counts: &mut BTreeMap<&'static str, usize>) {
    let (pipeline, transport) = (*schedule.pipeline(), schedule.transport());
    for (name, fault) in FAULTS {
        for (stage, list) in schedule.stages().iter().enumerate() {
            for (at, action) in list.iter().enumerate() {
                let Some(lists) = fault(schedule, schedule.stages().to_vec(), stage, at) else { continue };
                let refused = Schedule::of_lists(pipeline, transport, lists);
                assert!(refused.is_err(), "{pipeline:?}, {transport:?}: {name}, at `{action}` of stage {stage}");
                *counts.entry(name).or_default() += 1;
            }
        }
    }
}

/// The order of 1F1B as it is usual, which no rule of a stage forbids: a stage sends to one that sends to it. Senders that wait never go on.
#[test]
fn stages_that_wait_for_one_another_are_refused() {
    let pipeline = Pipeline::new(2, 1, 2).unwrap();
    let schedule = Schedule::new(ScheduleKind::OneForwardOneBackward, pipeline, Transport::Buffered).unwrap();
    let error = Schedule::of_lists(pipeline, Transport::Rendezvous, schedule.stages().to_vec()).unwrap_err();
    let expected = "stages wait for one another for ever: stage 0 for `send 0F1`, stage 1 for `send 1B0`";
    assert_eq!(error.to_string(), expected);
}
