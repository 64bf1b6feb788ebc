//! The kinds, drawn over time.

use halite_schedule::{Action, Costs, Pipeline, Schedule, ScheduleKind, Span, Transport};

/// The schedule as lines, a column for each unit of time: the micro-batch of a forward, backward, input, weights.
fn drawn(kind: ScheduleKind, stages: usize, chunks: usize, micro_batches: usize) -> String {
    let pipeline = Pipeline::new(stages, chunks, micro_batches).unwrap();
    let schedule = Schedule::new(kind, pipeline, Transport::Buffered).unwrap();
    let timeline = schedule.simulate(&Costs::equal(&pipeline)).unwrap();
    let line = |(list, spans): (&Vec<Action>, &Vec<Span>)| {
        let mut line = vec!["..".to_owned(); timeline.end() as usize];
        for (action, span) in list.iter().zip(spans) {
            let Action::Run(run) = action else { continue };
            for at in span.start..span.end {
                line[at as usize] = format!("{}{}", run.task.letter(), run.micro_batch);
            }
        }
        line.join(" ")
    };
    schedule.stages().iter().zip(&timeline.stages).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_kind_runs_in_its_order() {
    let one_by_one = "\
F0 F1 F2 .. .. .. .. B0 B0 F3 B1 B1 .. B2 B2 .. B3 B3
.. F0 F1 .. .. B0 B0 F2 B1 B1 F3 B2 B2 .. B3 B3 .. ..
.. .. F0 B0 B0 F1 B1 B1 F2 B2 B2 F3 B3 B3 .. .. .. ..";
    assert_eq!(drawn(ScheduleKind::OneForwardOneBackward, 3, 1, 4), one_by_one);
    let gpipe = "\
F0 F1 F2 .. .. .. .. .. .. B0 B0 B1 B1 B2 B2
.. F0 F1 F2 .. .. .. B0 B0 B1 B1 B2 B2 .. ..
.. .. F0 F1 F2 B0 B0 B1 B1 B2 B2 .. .. .. ..";
    assert_eq!(drawn(ScheduleKind::Gpipe, 3, 1, 3), gpipe);
    let interleaved = "\
F0 F1 F0 F1 F2 .. B0 B0 F3 B1 B1 F2 B0 B0 F3 B1 B1 .. B2 B2 .. B3 B3 B2 B2 B3 B3
.. F0 F1 F0 B0 B0 F1 B1 B1 F2 B0 B0 F3 B1 B1 F2 B2 B2 F3 B3 B3 B2 B2 B3 B3 .. ..";
    assert_eq!(drawn(ScheduleKind::Interleaved, 2, 2, 4), interleaved);
    let zero_bubble = "\
F0 F1 F2 .. .. I0 W0 F3 I1 W1 F4 I2 W2 F5 I3 W3 I4 W4 I5 W5
.. F0 F1 .. I0 F2 I1 W0 F3 I2 W1 F4 I3 W2 F5 I4 W3 I5 W4 W5
.. .. F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 F4 I4 W2 F5 I5 W3 W4 W5";
    assert_eq!(drawn(ScheduleKind::ZeroBubble, 3, 1, 6), zero_bubble);
}

#[test]
fn a_kind_says_which_pipelines_it_is_for() {
    let refused = |kind, stages, chunks, micro_batches| {
        let pipeline = Pipeline::new(stages, chunks, micro_batches).unwrap();
        Schedule::new(kind, pipeline, Transport::Buffered).unwrap_err().to_string()
    };
    let expected = "`1f1b` runs one chunk of the model on each stage, not 2";
    assert_eq!(refused(ScheduleKind::OneForwardOneBackward, 2, 2, 4), expected);
    let expected = "`interleaved` takes micro-batches that are a multiple of the 2 stages, not 5";
    assert_eq!(refused(ScheduleKind::Interleaved, 2, 2, 5), expected);
    for sizes in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (usize::MAX, 2, 2), (1 << 10, 1 << 10, 2)] {
        assert!(Pipeline::new(sizes.0, sizes.1, sizes.2).is_err(), "{sizes:?}");
    }
}

#[test]
fn transfers_stand_where_their_transport_wants_them() {
    let pipeline = Pipeline::new(2, 1, 2).unwrap();
    let lists = |transport| -> Vec<String> {
        let schedule = Schedule::new(ScheduleKind::OneForwardOneBackward, pipeline, transport).unwrap();
        let text = |list: &Vec<Action>| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        schedule.stages().iter().map(text).collect()
    };
    let first = "0F0, send 0F0, 0F1, send 0F1, receive 1B0, 0B0, receive 1B1, 0B1, reduce, update";
    // Values are waited for when they are read, or where their sender waits.
    let last = "receive 0F0, 1F0, 1B0, send 1B0, receive 0F1, 1F1, 1B1, send 1B1, reduce, update";
    assert_eq!(lists(Transport::Buffered), [first, last]);
    let last = "receive 0F0, 1F0, receive 0F1, 1B0, send 1B0, 1F1, 1B1, send 1B1, reduce, update";
    assert_eq!(lists(Transport::Rendezvous), [first, last]);
}
