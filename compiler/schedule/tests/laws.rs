//! Laws of every schedule, over all pipelines of up to seven stages, four chunks and 18 micro-batches: 513 schedules.

use halite_schedule::{Costs, Pipeline, Schedule, ScheduleKind, Task, Transport};
use std::sync::OnceLock;

/// All schedules of those pipelines, with their kinds.
fn all() -> &'static [(ScheduleKind, Schedule)] {
    static ALL: OnceLock<Vec<(ScheduleKind, Schedule)>> = OnceLock::new();
    ALL.get_or_init(|| every().collect())
}

fn every() -> impl Iterator<Item = (ScheduleKind, Schedule)> {
    let sizes =
        (1..=7).flat_map(|stages| (1..=4).flat_map(move |chunks| (1..=18).map(move |count| (stages, chunks, count))));
    let pipelines = sizes.map(|(stages, chunks, count)| Pipeline::new(stages, chunks, count).unwrap());
    pipelines.flat_map(|pipeline| {
        let made = move |kind: ScheduleKind| Some((kind, Schedule::new(kind, pipeline, Transport::Buffered).ok()?));
        ScheduleKind::ALL.into_iter().filter_map(made)
    })
}

#[test]
fn every_pipeline_has_schedules_that_pass_their_check() {
    let mut counts = [0; ScheduleKind::ALL.len()];
    for &(kind, ref schedule) in all() {
        counts[ScheduleKind::ALL.iter().position(|&other| other == kind).unwrap()] += 1;
        let waiting = Schedule::new(kind, *schedule.pipeline(), Transport::Rendezvous).unwrap();
        for stage in 0..schedule.pipeline().stages() {
            assert!(waiting.runs(stage).eq(schedule.runs(stage)), "{kind:?}: another order");
        }
    }
    // Those of one chunk; interleaved ones of several, with micro-batches that are a multiple of the stages.
    let multiples: usize = (1..=7).map(|stages| 3 * (18 / stages)).sum();
    assert_eq!(counts, [7 * 18, multiples, 7 * 18, 7 * 18]);
}

#[test]
fn residuals_are_no_more_than_the_formula_says() {
    for &(kind, ref schedule) in all() {
        for stage in 0..schedule.pipeline().stages() {
            let (found, formula) = (schedule.in_flight(stage), kind.kind().in_flight(schedule.pipeline(), stage));
            let is_right = if kind == ScheduleKind::ZeroBubble { found <= formula } else { found == formula };
            assert!(
                is_right,
                "{kind:?}, {:?}, stage {stage}: {found} in flight, {formula} by the formula",
                schedule.pipeline()
            );
        }
    }
}

/// The idle time of a stage where forward, input and weights cost 1 for a stage, that is `chunks` times 1 in the unit of a part.
#[test]
fn stages_wait_no_longer_than_the_formula_says() {
    for &(kind, ref schedule) in all() {
        let pipeline = schedule.pipeline();
        let (stages, count) = (pipeline.stages() as u64, pipeline.micro_batches() as u64);
        let timeline = schedule.simulate(&Costs::equal(pipeline)).unwrap();
        for stage in 0..pipeline.stages() {
            let idle = timeline.idle(stage);
            // In units of a part, of which `chunks` make a stage: 3 (stages - 1) / chunks of a stage is this.
            let bound = match kind {
                ScheduleKind::ZeroBubble if count >= stages => stages - 1,
                _ => 3 * (stages - 1),
            };
            let is_right = if kind == ScheduleKind::ZeroBubble { idle <= bound } else { idle == bound };
            assert!(is_right, "{kind:?}, {pipeline:?}, stage {stage}: waits {idle}, {bound} by the formula");
        }
    }
}

/// Costs that differ by part and by kind of work, and slow transfers: the order stands, only times change.
#[test]
fn no_costs_make_stages_wait_for_ever() {
    for &(kind, ref schedule) in all() {
        let parts = 0..schedule.pipeline().parts() as u64;
        let costs = Costs {
            forward: parts.clone().map(|part| part * 7 % 5).collect(),
            input: parts.clone().map(|part| part * 3 % 4 + 1).collect(),
            weights: parts.map(|part| part * 5 % 3).collect(),
            transfer: 2,
        };
        let timeline = schedule.simulate(&costs).unwrap();
        for (list, spans) in schedule.stages().iter().zip(&timeline.stages) {
            assert_eq!(list.len(), spans.len(), "{kind:?}");
            assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{kind:?}");
        }
    }
}

#[test]
fn gradients_by_weights_are_added_up_in_one_order() {
    for &(kind, ref schedule) in all() {
        for part in 0..schedule.pipeline().parts() {
            let runs = schedule.runs(schedule.pipeline().stage_of(part));
            let adds =
                runs.filter(|run| run.part == part && matches!(run.task, Task::Backward | Task::BackwardWeights));
            let order: Vec<usize> = adds.map(|run| run.micro_batch).collect();
            assert_eq!(order, (0..schedule.pipeline().micro_batches()).collect::<Vec<_>>(), "{kind:?}");
        }
    }
}
