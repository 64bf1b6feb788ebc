//! The output of `halite plan --calibration` in the book. The command compiles for a minute, so that the second tier runs it
//! (`HALITE_ROWS=all`). The first tier tells some of the rows again; the others stand beside what is published, and are counted.

use super::read::{Shown, shown, text};
use super::shown::{Folder, LONG, differs};
use halite::Session;
use halite_plan::{Measure, Row, calibrate, reference_machines, rows};
use halite_recipe::TargetName;
use std::collections::BTreeSet;

/// The command with its output, as the book shows it.
fn calibration() -> Shown {
    let mut found = shown("docs/guide/plan.md").into_iter().filter(|shown| LONG.contains(&shown.command.as_str()));
    found.next().expect("the page shows it")
}

/// The cells of a line of a table, which at least two blanks part.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The use of a row, as the command names it.
fn role(row: &Row) -> &'static str {
    match (row.fitted, row.doubt.is_empty()) {
        (true, _) => "fitted",
        (false, true) => "predicted",
        (false, false) => "in doubt",
    }
}

/// The line that counts the rows above it, by their errors as they are shown.
fn summary(rows: &[Vec<&str>]) -> String {
    let of = |role: &'static str| rows.iter().filter(move |cells| cells.last() == Some(&role));
    let errors = of("predicted").map(|cells| cells[4].trim_start_matches(['+', '-']).trim_end_matches('%'));
    let mut errors: Vec<f64> = errors.map(|error| error.parse().unwrap()).collect();
    errors.sort_by(f64::total_cmp);
    format!(
        "{} rows were fitted to, {} are predicted: median error {:.1}%, largest {:.1}%.",
        of("fitted").count(),
        errors.len(),
        errors[errors.len() / 2],
        errors[errors.len() - 1]
    )
}

/// The tables of speeds have each published run with a speed, in the order of the file, and the line below counts its table.
#[test]
fn shown_runs_are_those_that_are_published() {
    let calibration = calibration();
    let references: BTreeSet<String> = reference_machines().unwrap().into_iter().map(|row| row.machine.name).collect();
    let (others, own): (Vec<Row>, Vec<Row>) =
        rows().unwrap().into_iter().partition(|row| references.contains(&row.machine));
    let is_count = |line: &&String| line.contains("rows were fitted to");
    let mut tables = calibration.output.split_inclusive(|line| is_count(&line));
    for published in [own, others] {
        let table = tables.next().expect("there are two tables of speeds");
        let has_role = |cells: &Vec<&str>| matches!(cells.last(), Some(&("fitted" | "predicted" | "in doubt")));
        let lines: Vec<Vec<&str>> = table.iter().map(|line| cells(line)).filter(has_role).collect();
        let shown: Vec<[&str; 3]> = lines.iter().map(|cells| [cells[0], cells[1], cells[cells.len() - 1]]).collect();
        let with_speed = published.iter().filter(|row| !matches!(row.measured, Measure::Ran | Measure::OutOfMemory));
        let expected: Vec<[&str; 3]> = with_speed.map(|row| [&*row.name, &*row.machine, role(row)]).collect();
        assert_eq!(shown, expected);
        let counted = table.iter().find(is_count).expect("a line counts the rows");
        assert!(counted.ends_with(&summary(&lines)), "{counted}\nbut the rows above it give\n{}", summary(&lines));
    }
}

/// The command prints what the book shows: the runs of a model in the first tier, all of it in the second.
#[test]
fn shown_figures_are_told_again() {
    let calibration = calibration();
    if std::env::var("HALITE_ROWS").is_ok_and(|rows| rows == "all") {
        assert_eq!(differs(&calibration, &Folder::new(&[])), None);
        return;
    }
    let mut session = Session::new();
    let mut told = 0;
    for row in rows().unwrap().iter().filter(|row| row.name.starts_with("HLAT 7B")) {
        let target = TargetName::new(&row.machine);
        let machine = session.vocabulary.targets.get(&target).unwrap().machines(&target, &[]).remove(0);
        let judged = calibrate(&mut session, row, machine).unwrap();
        let Some((error, measured)) = judged.error().zip(judged.measured) else { continue };
        let line = calibration.output.iter().map(|line| cells(line)).find(|cells| cells.first() == Some(&&*row.name));
        let [measured, total] = [measured, judged.bill.step.total].map(|seconds| format!("{seconds:.2} s"));
        assert_eq!(line.unwrap()[2..5], [measured, total, format!("{:+.1}%", 100.0 * error)], "{}", row.name);
        told += 1;
    }
    assert!(told > 0);
}

/// The page that explains a run that did not fit has the memory that the command prints of it.
#[test]
fn pages_agree_on_the_run_that_did_not_fit() {
    let calibration = calibration();
    let line =
        calibration.output.iter().map(|line| cells(line)).find(|cells| cells.first() == Some(&"HLAT 70B, 4 nodes"));
    let [.., needs, has] = line.as_deref().expect("it is shown") else { panic!("{line:?}") };
    let said = format!("the estimate is {} of the {has} of a core", needs.trim_end_matches(" GiB"));
    assert!(text("docs/internals/plan.md").contains(&said), "{said}");
}
