//! Transfers, placed among what stages run.

use crate::{Action, Costs, Pipeline, Run, ScheduleError, Transfer, Transport, simulate};

/// The lists of stages whose senders go on at once: a value is sent when it is made, and waited for when it is read.
pub(crate) fn beside_runs(pipeline: &Pipeline, runs: Vec<Vec<Run>>) -> Vec<Vec<Action>> {
    let beside = |run: Run| {
        let received = Transfer::into(run, pipeline).map(Action::Receive);
        let sent = Transfer::out_of(run, pipeline).map(Action::Send);
        received.into_iter().chain([Action::Run(run)]).chain(sent)
    };
    runs.into_iter().map(|runs| runs.into_iter().flat_map(beside).collect()).collect()
}

/// The lists of stages whose senders wait for their receivers.
///
/// All that happens is put into one order: runs by the time at which they begin where all cost the same, a transfer when what it sends is made. The
/// list of a stage is its share of that order; a transfer is in those of both of its stages. So the first thing that has not happened yet
/// can always happen.
///
/// # Errors
/// When a run waits for another that comes after it.
pub(crate) fn in_one_order(pipeline: &Pipeline, runs: Vec<Vec<Run>>) -> Result<Vec<Vec<Action>>, ScheduleError> {
    let lists = beside_runs(pipeline, runs);
    let times = simulate::run(pipeline, Transport::Buffered, &lists, &Costs::equal(pipeline))?.stages;
    // Transfers before runs at the same time.
    let mut events: Vec<(u64, bool, Run)> = Vec::new();
    for (action, span) in lists.into_iter().flatten().zip(times.into_iter().flatten()) {
        let Action::Run(run) = action else { continue };
        events.push((span.start, true, run));
        if Transfer::out_of(run, pipeline).is_some() {
            events.push((span.end, false, run));
        }
    }
    events.sort_unstable();
    let mut stages = vec![Vec::new(); pipeline.stages()];
    for (_, is_run, run) in events {
        let from = pipeline.stage_of(run.part);
        let crossing = Transfer::out_of(run, pipeline).filter(|_| !is_run);
        match crossing.and_then(|transfer| Some((transfer, transfer.to_part(pipeline)?))) {
            None => stages[from].push(Action::Run(run)),
            Some((transfer, to)) => {
                stages[from].push(Action::Send(transfer));
                stages[pipeline.stage_of(to)].push(Action::Receive(transfer));
            }
        }
    }
    Ok(stages)
}
