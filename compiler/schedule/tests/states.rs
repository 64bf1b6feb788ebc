//! All states that stages can reach, whoever goes first: none is one from which nothing goes on.

use halite_schedule::{Action, Pipeline, Schedule, ScheduleKind, Transfer, Transport};
use std::collections::HashSet;

/// The states from which a stage can go on, one action further; a meeting of two moves both.
fn next(schedule: &Schedule, state: &[usize]) -> Vec<Vec<usize>> {
    let meet = schedule.transport() == Transport::Rendezvous;
    let (pipeline, lists) = (schedule.pipeline(), schedule.stages());
    let head = |stage: usize| lists[stage].get(state[stage]).copied();
    let was_sent = |transfer: Transfer| {
        let from = pipeline.stage_of(transfer.part);
        lists[from][..state[from]].contains(&Action::Send(transfer))
    };
    let all_reduce = (0..lists.len()).all(|stage| head(stage) == Some(Action::Reduce));
    let mut reached = Vec::new();
    let mut step = |stages: &[usize]| {
        let mut state = state.to_vec();
        stages.iter().for_each(|&stage| state[stage] += 1);
        reached.push(state);
    };
    for stage in 0..lists.len() {
        match head(stage) {
            None => {}
            Some(Action::Run(_) | Action::Update) => step(&[stage]),
            Some(Action::Reduce) if stage == 0 && all_reduce => step(&(0..lists.len()).collect::<Vec<_>>()),
            Some(Action::Reduce) => {}
            Some(Action::Send(transfer)) => {
                let to = pipeline.stage_of(transfer.to_part(pipeline).unwrap());
                if !meet {
                    step(&[stage]);
                } else if head(to) == Some(Action::Receive(transfer)) {
                    step(&[stage, to]);
                }
            }
            Some(Action::Receive(transfer)) if !meet && was_sent(transfer) => step(&[stage]),
            Some(Action::Receive(_)) => {}
        }
    }
    reached
}

fn reachable(schedule: &Schedule) -> usize {
    let end: Vec<usize> = schedule.stages().iter().map(Vec::len).collect();
    let start = vec![0; end.len()];
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let reached = next(schedule, &state);
        assert!(!reached.is_empty() || state == end, "nothing goes on from {state:?} of {schedule:#?}");
        open.extend(reached.into_iter().filter(|state| seen.insert(state.clone())));
    }
    assert!(seen.contains(&end));
    seen.len()
}

#[test]
fn no_state_is_an_end_but_the_last() {
    for kind in ScheduleKind::ALL {
        let sizes: &[_] = if kind == ScheduleKind::Interleaved { &[(3, 2, 3), (2, 2, 4)] } else { &[(3, 1, 4)] };
        for &(stages, chunks, micro_batches) in sizes {
            let pipeline = Pipeline::new(stages, chunks, micro_batches).unwrap();
            let [buffered, met] = [Transport::Buffered, Transport::Rendezvous]
                .map(|transport| reachable(&Schedule::new(kind, pipeline, transport).unwrap()));
            // Who need not wait reaches more.
            assert!(buffered > met && met > 50, "{kind:?}: {buffered} and {met} states");
        }
    }
}
