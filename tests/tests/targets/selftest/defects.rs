//! Defects that are built into the stand-ins, each of which is named by the checks that look at it and by no other.

use crate::selftest::bench::{Bench, failed};
use halite_selftest::{CHECKS, CheckReport, Outcome, Report, Verdict};
use halite_standin_nrt::DEFECTS;
use halite_tests::parallel::for_each;
use std::collections::BTreeSet;

/// A defect of the device: the checks that fail, and what one of them says was asked.
const OF_DEVICE: [(&str, &[&str], &str); 19] = [
    ("u32-product", &["ops", "integers"], "products of whole words"),
    ("u32-sum", &["integers"], "sums of whole words"),
    ("shift-left", &["ops", "integers"], "shift-left"),
    ("u32-compare", &["ops", "integers"], "words that are compared"),
    ("alias-stale", &["aliasing", "updates"], "in the memory of w"),
    ("all-reduce-bf16", &["collectives"], "all-reduce on 2 ranks"),
    ("all-gather-order", &["collectives", "tokens"], "all-gather on 2 ranks"),
    ("all-gather-again", &["collectives"], "all-gather-again on 2 ranks"),
    ("reduce-scatter-shard", &["collectives", "tokens"], "reduce-scatter on 2 ranks"),
    ("permute-still", &["collectives"], "collective-permute on 2 ranks"),
    ("stream-order", &["tokens"], "in one order on 2 ranks"),
    ("switch-ignored", &["rounding-switch"], "switch on"),
    ("truncates", &["ops", "rounding-switch"], "switch off"),
    ("call-arguments", &["call"], "by one function"),
    ("barrier-swapped", &["barriers"], "behind one barrier"),
    ("rank-ignored", &["rank-input"], "by rank"),
    ("expm1-cancels", &["ops"], "exponential_minus_one `small`"),
    ("logistic-bf16", &["ops", "kernels", "updates"], "logistic `smooth`"),
    ("dot-bf16", &["ops", "products", "updates"], "products of `f32`"),
];

/// A defect of the compiler, by its variable.
const OF_COMPILER: [(&str, &str, &[&str], &str); 3] = [
    ("STAND_IN_REFUSES", "--enable-saturate-infinity", &["flags"], "--enable-saturate-infinity"),
    ("STAND_IN_REFUSES", "round-nearest-afz", &["ops"], "round_nearest_afz"),
    ("STAND_IN_WRONG_KERNEL", "AwsNeuronGelu", &["kernels"], "AwsNeuronGelu in the place of `gelu`"),
];

/// Holds a report to the checks that are to fail, and to a failure that says so.
#[track_caller]
fn named(report: &Report, defect: &str, checks: &[&str], asked: &str) {
    let failures: Vec<_> = report.checks.iter().flat_map(|check| &check.failures).collect();
    assert_eq!(failed(report), checks, "{defect}: {failures:#?}");
    assert!(failures.iter().any(|failure| failure.what.contains(asked)), "{defect}: {failures:#?}");
    let others = report.checks.iter().filter(|check| !checks.contains(&check.name));
    for other in others {
        assert!(is_well(other), "{defect}: {}", other.name);
    }
}

/// Whether a check passed; the one of the plugin has none to ask.
fn is_well(check: &CheckReport) -> bool {
    match &check.verdict {
        Verdict::NotRun(reason) => check.name == "plugin" && reason.contains("through libnrt"),
        verdict => *verdict == Verdict::Passed,
    }
}

/// Defects that between them make every check of a device fail, in two devices: none hides another of its device.
const TOGETHER: [&[&str]; 2] = [
    &["all-reduce-bf16", "all-gather-again", "switch-ignored", "call-arguments", "barrier-swapped", "rank-ignored"],
    &["u32-product", "alias-stale", "dot-bf16", "stream-order"],
];

#[test]
fn the_table_has_every_defect() {
    let mut known = DEFECTS.to_vec();
    let mut tested = OF_DEVICE.map(|(defect, ..)| defect).to_vec();
    known.sort_unstable();
    tested.sort_unstable();
    assert_eq!(known, tested);
}

#[test]
fn defects_that_a_device_has_together_are_named() {
    let failed = for_each(&TOGETHER, |defects| {
        let report = Bench::new().run(&[], &[("DEFECT", &defects.join(","))]);
        let failures: Vec<_> = report.checks.iter().flat_map(|check| &check.failures).collect();
        let own = OF_DEVICE.iter().filter(|(defect, ..)| defects.contains(defect));
        for (defect, _, asked) in own.clone() {
            assert!(failures.iter().any(|failure| failure.what.contains(asked)), "{defect}: {failures:#?}");
        }
        for (defect, ..) in own.clone().filter(|(defect, ..)| *defect == "all-gather-again") {
            let fact = report.facts.iter().find(|fact| fact.key == format!("collectives/{defect}")).unwrap();
            assert_eq!(fact.outcome, Outcome::Refuted);
        }
        let expected: BTreeSet<&str> = own.flat_map(|(_, checks, _)| checks.iter().copied()).collect();
        let found: BTreeSet<&str> = failed(&report).into_iter().collect();
        assert_eq!(found, expected, "{defects:?}: {failures:#?}");
        found
    });
    // A compiler's defects are for the others.
    let failed: BTreeSet<&str> = failed.into_iter().flatten().collect();
    let others: Vec<_> = CHECKS.iter().map(|check| check.name()).filter(|name| !failed.contains(name)).collect();
    assert_eq!(others, ["flags", "kernels", "plugin"]);
}

#[test]
#[ignore = "second tier: 19 runs of all checks"]
fn each_defect_of_a_device_is_named() {
    for_each(&OF_DEVICE, |(defect, checks, asked)| {
        named(&Bench::new().run(&[], &[("DEFECT", defect)]), defect, checks, asked);
    });
}

#[test]
fn defects_of_a_compiler_are_named() {
    for_each(&OF_COMPILER, |(variable, value, checks, asked)| {
        let report = Bench::new().run(&[(variable, value)], &[]);
        named(&report, value, checks, asked);
        if *value == "round-nearest-afz" {
            refutes_one_fact(&report);
        }
    });
}

/// A refused opcode refutes its fact and no other.
fn refutes_one_fact(report: &Report) {
    let refuted: Vec<_> = report.facts.iter().filter(|fact| fact.outcome == Outcome::Refuted).collect();
    assert_eq!(refuted.iter().map(|fact| fact.key.as_str()).collect::<Vec<_>>(), ["opcodes/round-nearest-afz"]);
    assert!(refuted[0].follows.as_ref().unwrap().contains("refuses `round-nearest-afz`"), "{refuted:?}");
}

/// Facts of other hardware, and of the plugin.
const NOT_TOLD: [&str; 2] = ["flags/--native-int64", "plugin/without-python"];

#[test]
fn a_right_device_passes_and_tells_of_every_fact_that_a_check_has() {
    let report = Bench::new().run(&[], &[]);
    assert_eq!(failed(&report), [""; 0], "{:#?}", report.checks);
    for check in &report.checks {
        assert!(is_well(check), "{}", check.name);
        assert!(check.asked > 0 || check.name == "plugin", "{}", check.name);
    }
    document_shows(&report);
    for fact in &report.facts {
        let is_open = fact.outcome == Outcome::Open;
        // What no check tells is open as well.
        assert_eq!(is_open, fact.checks.is_empty() || NOT_TOLD.contains(&&*fact.key), "{}", fact.key);
        assert_eq!(is_open, fact.follows.is_none(), "{}", fact.key);
    }
}

/// The page on the first hour shows this report, times aside.
fn document_shows(report: &Report) {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/neuron/first-hour.md")).unwrap();
    let shown = text.split("```text\n  halite ").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    for check in &report.checks {
        let count = check.asked.to_string();
        let is_row = |row: &&Vec<&str>| row.first() == Some(&check.name);
        let row =
            rows.iter().find(is_row).unwrap_or_else(|| panic!("docs/neuron/first-hour.md shows `{}`", check.name));
        if check.asked == 0 {
            assert_eq!(row[1..3], ["not", "run"], "{row:?}");
            continue;
        }
        assert!(
            row[1] == "passed" && row.ends_with(&[&count, "of", &count]),
            "{}: {count} of {count}, {row:?}",
            check.name
        );
    }
    let is_told = |row: &&Vec<&str>| matches!(row.get(1), Some(&("passed" | "not")));
    assert_eq!(rows.iter().filter(is_told).count(), report.checks.len());
}

#[test]
fn what_ends_the_first_process_takes_no_other_check_along() {
    // Each process fails its first run: all that needs a device is told to fail, and nothing is told of facts.
    let report = Bench::new().run(&[], &[("FAIL", "nrt_execute:101@1")]);
    let passed: Vec<_> = report.checks.iter().filter(|check| check.verdict == Verdict::Passed).collect();
    assert_eq!(passed.iter().map(|check| check.name).collect::<Vec<_>>(), ["flags"]);
    let said = report.checks.iter().flat_map(|check| &check.failures).all(|failure| failure.found.contains("101"));
    assert!(said, "{:#?}", report.checks);
    assert_eq!(report.facts_that_are(Outcome::Refuted), 0);
}
