//! The planner: what shallow models tell of deep ones, what a search drops, and published figures.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite_plan::{Layout, Question, Search, calibrate, rows};
use halite_recipe::TargetName;
use halite_support::codes;
use halite_target::estimate::time::Machine;

fn machine(session: &Session, name: &str) -> Option<Machine> {
    let name = TargetName::new(name);
    session.vocabulary.targets.get(&name).ok()?.machine(&name, &[])
}

/// A small model on an instance, with what is stated.
fn question(session: &Session, instances: u64, set: &[&str]) -> Question {
    let model =
        ["layers=8", "vocab=512", "hidden=512", "heads=8", "kv_heads=8", "ffn=1024", "seq=256", "precision=mixed"];
    Question {
        input: "llama".to_owned(),
        set: model.iter().chain(set).map(|&set| set.to_owned()).collect(),
        target: "trn1".to_owned(),
        machine: machine(session, "trn1").expect("its links are known"),
        instances,
        sequences: Some(32),
        shown: 3,
    }
}

/// All layouts, and what a search shows on a machine with so many bytes for each rank; `None` for those that it has.
fn searched(set: &[&str], capacity: Option<u64>) -> (Vec<Layout>, halite_plan::Plan) {
    let mut session = Session::new();
    let mut question = question(&session, 1, set);
    question.machine.capacity = capacity.unwrap_or(question.machine.capacity);
    let search = Search::new(&mut session, &question).unwrap_or_else(|errors| panic!("{errors:?}"));
    let layouts = search.layouts();
    (layouts, search.run(|_, _| {}).unwrap_or_else(|errors| panic!("{errors:?}")))
}

/// Spaces that are searched by trying all: one model on the 32 ranks of an instance, with some keys stated.
const SPACES: [&[&str]; 3] = [
    &["parallel.pipeline=1", "batch=1"],
    &["parallel.tensor=2", "parallel.schedule=1f1b", "batch=1"],
    &["parallel.fsdp=1", "parallel.tensor=8", "recompute=[\"block\"]"],
];

/// What a search shows is what trying all layouts gives, also where a rank has half of the memory that the first layout needs; shallow
/// models tell the time of deep ones within the 3% that it allows them.
#[test]
fn no_layout_is_dropped_that_beats_a_shown_one() {
    let all = std::env::var("HALITE_PLANS").is_ok();
    for set in if all { &SPACES[..] } else { &SPACES[..2] } {
        let (layouts, plan) = searched(set, None);
        let mut session = Session::new();
        let question = question(&session, 1, set);
        let mut all: Vec<(f64, u64, &Layout)> = Vec::new();
        for layout in &layouts {
            let Ok(bill) = question.bill(&mut session, layout) else { continue };
            if bill.memory[0] <= bill.memory[1] {
                all.push((bill.step.total, bill.memory[0], layout));
            }
            let told = plan.found.iter().find(|found| found.layout == *layout);
            if let Some(told) = told {
                let off = told.seconds / bill.step.total - 1.0;
                assert!(off.abs() <= 0.03, "{set:?} {layout:?}: told {} for {}", told.seconds, bill.step.total);
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(_, needs, _)) = all.first() else { panic!("{set:?}: nothing fits") };
        for capacity in [u64::MAX, needs / 2] {
            let plan = if capacity == u64::MAX { plan.clone() } else { searched(set, Some(capacity)).1 };
            let shown: Vec<f64> = plan.planned.iter().map(|planned| planned.bill.step.total).collect();
            let fitting: Vec<_> = all.iter().filter(|own| own.1 <= capacity).collect();
            let best: Vec<f64> = fitting.iter().take(3).map(|own| own.0).collect();
            println!(
                "{set:?}: of {} layouts {} fit, {} were told and {} compiled; the best is {:?} in {:?}",
                layouts.len(),
                fitting.len(),
                plan.considered.shallow,
                plan.considered.compiled,
                fitting.first().map(|own| own.2.to_string()),
                best.first()
            );
            assert_eq!(shown, best, "{set:?} {capacity}");
        }
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let mut session = Session::new();
    let mut question = question(&session, 1, &["parallel.tensor=2", "parallel.pipeline=1"]);
    question.sequences = Some(3);
    let errors = Search::new(&mut session, &question).and_then(|search| search.run(|_, _| {})).expect_err("3 over 16");
    assert_eq!(errors.iter().next().map(|error| error.code().id), Some(codes::USAGE.id));
}

/// The rows that efficiencies were fitted to come out within a tenth, and in the long run the median of all others too: `HALITE_ROWS=all`.
#[test]
fn published_figures_are_told() {
    let all = std::env::var("HALITE_ROWS").is_ok_and(|value| value == "all");
    let mut session = Session::new();
    let (mut errors, mut count) = (Vec::new(), 0);
    for row in rows().expect("the table is sound") {
        if !all && !row.name.starts_with("HLAT") {
            continue;
        }
        let trained = machine(&session, &row.machine).expect("its links are known");
        let judged = calibrate(&mut session, &row, trained).unwrap_or_else(|errors| panic!("{errors:?}"));
        println!("{}: {:+.1}%", row.name, 100.0 * judged.error());
        count += 1;
        if row.fitted {
            assert!(judged.error().abs() <= 0.1, "{}: {:+.3}", row.name, judged.error());
        } else if row.doubt.is_empty() {
            errors.push(judged.error().abs());
        }
    }
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    assert!(count >= 2 && median <= 0.1, "{count} rows, median {median}");
}
