//! The planner: what shallow models tell of deep ones, what a search drops, and published figures.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use crate::plan_laws::is_second_tier;
use halite::Session;
use halite_bundle::estimate::FitVerdict;
use halite_plan::{
    Fits, Judged, Layout, Measure, Question, ReferenceTarget, Row, Search, calibrate, cost_ratios, reference_machines,
    rows,
};
use halite_recipe::TargetName;
use halite_support::codes;
use halite_target::estimate::time::Machine;
use std::collections::HashSet;
use std::sync::Arc;

fn machine(session: &Session, name: &str) -> Option<Machine> {
    let name = TargetName::new(name);
    session.vocabulary.targets.get(&name).ok()?.machines(&name, &[]).into_iter().next()
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
    for set in if is_second_tier() { &SPACES[..] } else { &SPACES[..1] } {
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

/// A session that also compiles for the reference machines.
fn with_references() -> Session {
    let mut session = Session::new();
    let references = ReferenceTarget::new().expect("the table is sound");
    session.register_target(Arc::new(references)).expect("no target has their names");
    session
}

fn judged(session: &mut Session, row: &Row) -> Judged {
    let own = machine(session, &row.machine).expect("its links are known");
    calibrate(session, row, own).unwrap_or_else(|errors| panic!("{}: {errors:?}", row.name))
}

/// The tables of published figures name machines and rows that there are, and each number has a source.
#[test]
fn published_figures_have_sources() {
    let session = with_references();
    let rows = rows().expect("the table is sound");
    let names: HashSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "two rows have one name");
    for row in &rows {
        let own = machine(&session, &row.machine).unwrap_or_else(|| panic!("{}: no machine {}", row.name, row.machine));
        assert!(row.set.contains(&format!("target={}", own.name)), "{}: it is compiled for another target", row.name);
        assert!(!row.provenance.source.is_empty(), "{}: no source", row.name);
    }
    for ratio in cost_ratios().expect("the table is sound") {
        assert!(names.contains(ratio.of.as_str()) && names.contains(ratio.over.as_str()), "{ratio:?}");
        assert!(ratio.published > 0.0 && !ratio.provenance.source.is_empty(), "{ratio:?}");
    }
}

/// A reference machine is sound, and at most one row was fitted to it.
#[test]
fn reference_machines_are_sound() {
    let rows = rows().expect("the table is sound");
    for row in reference_machines().expect("the table is sound") {
        let own = row.machine;
        let links: Vec<u64> = own.links.iter().map(|link| link.ranks).collect();
        assert_eq!(links.last(), Some(&0), "{}: its last link joins all", own.name);
        assert!(!row.provenance.source.is_empty() && !own.efficiency.provenance.source.is_empty(), "{}", own.name);
        assert!((0.0..=1.0).contains(&own.efficiency.products), "{}", own.name);
        let fitted = rows.iter().filter(|row| row.fitted && row.machine == own.name).count();
        let predicted = rows.iter().filter(|row| !row.fitted && row.machine == own.name).count();
        assert!(fitted <= 1 && (fitted == 0 || predicted > 0), "{}: {fitted} fitted, {predicted} predicted", own.name);
    }
}

/// Time and memory of a published run on GPUs, to which nothing was fitted.
#[test]
fn a_run_on_another_machine_is_told() {
    let rows = rows().expect("the table is sound");
    let row = rows.iter().find(|row| row.name == "torchtitan 8B, 128 GPUs").expect("the table has it");
    let judged = judged(&mut with_references(), row);
    let (time, memory) = (judged.error().expect("it has a speed"), judged.memory_error().expect("it has memory"));
    assert!(time.abs() <= 0.05 && memory.abs() <= 0.15, "{time:+.3} {memory:+.3}");
    assert!(judged.bill.fits.is_none() && judged.bill.costs.is_empty(), "nothing is known of limits and prices");
}

/// Runs on trn1 that ran fit by the estimate, and published memory of a rank is told within 15%.
fn fits_as_it_did(judged: &Judged) {
    let Judged { row, bill, .. } = judged;
    if row.machine == "trn1" && row.measured != Measure::OutOfMemory {
        let fits = matches!(bill.fits.map(Fits::verdict), Some(FitVerdict::Fits | FitVerdict::FitsWithFlag));
        assert!(fits, "{}: {:?}, {:?} bytes", row.name, bill.fits, bill.memory);
    }
    assert!(judged.memory_error().is_none_or(|error| error.abs() <= 0.15), "{}: {} GiB", row.name, judged.gib());
}

/// The rows that efficiencies were fitted to come out within a tenth, and in the long run the median of all others too, those of our
/// targets and those of other machines each by themselves: `HALITE_ROWS=all`.
#[test]
fn published_figures_are_told() {
    let all = std::env::var("HALITE_ROWS").is_ok_and(|value| value == "all");
    let mut session = with_references();
    let others: Vec<String> =
        reference_machines().expect("the table is sound").into_iter().map(|row| row.machine.name).collect();
    let mut errors = [Vec::new(), Vec::new()];
    for row in rows().expect("the table is sound") {
        if !all && !row.name.starts_with("HLAT 7B") {
            continue;
        }
        let judged = judged(&mut session, &row);
        fits_as_it_did(&judged);
        let Some(error) = judged.error() else { continue };
        println!("{}: {:+.1}%", row.name, 100.0 * error);
        if row.fitted {
            assert!(error.abs() <= 0.1, "{}: {error:+.3}", row.name);
        } else if row.doubt.is_empty() {
            errors[usize::from(others.contains(&row.machine))].push(error.abs());
        }
    }
    assert!(!errors[0].is_empty() && all != errors[1].is_empty(), "{errors:?}");
    for mut errors in errors.into_iter().filter(|errors| !errors.is_empty()) {
        errors.sort_by(f64::total_cmp);
        assert!(errors[errors.len() / 2] <= 0.1, "{errors:?}");
    }
}
