//! Bundles of pipelines that are wrong on purpose: they are refused when they are read, loaded or run, or they compute something else than
//! one device.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod edits;
mod halves;
mod kinds;

use halite::Session;
use halite_bundle::{Bundle, Manifest};
use halite_tests::compiled::expect;
use halite_tests::pipelines::{Case, Ran, is_long, start};
use kinds::{KINDS, Kind};
use std::fmt::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A tied head; parts that come back to their stage; four stages that hand on a loss; backwards in halves.
const CASES: [Case; 4] = [
    Case { model: 2, accumulate: 4, schedule: 0, pipeline: 2, tensor: 1, data: 1, fsdp: 1, zero: 0 },
    Case { model: 1, accumulate: 4, schedule: 2, pipeline: 2, tensor: 1, data: 1, fsdp: 1, zero: 0 },
    Case { model: 4, accumulate: 4, schedule: 1, pipeline: 4, tensor: 1, data: 1, fsdp: 1, zero: 0 },
    Case { model: 0, accumulate: 4, schedule: 3, pipeline: 2, tensor: 1, data: 1, fsdp: 1, zero: 0 },
];

/// Updates after which a wrong bundle has another state.
const UPDATES: usize = 2;

/// So far off is a state in `f64` that is computed otherwise.
const APART: f64 = 1e-9;

/// Stages that wait for one another are given up after this time.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many faults of a kind are tried: one in the first bundle that can have it, or all in each with `HALITE_PIPELINES=all`.
fn sites() -> usize {
    if is_long() { usize::MAX } else { 1 }
}

/// The check that finds a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// The bundle is not read.
    Reading,
    /// The step is not loaded, or does not run.
    Running,
    /// The state or a metric is another one.
    Law,
    /// Nothing: all is computed the same.
    Nothing,
    /// Stages wait for one another.
    Hanging,
    Panicking,
}

struct Judge {
    name: String,
    bundle: Bundle,
    expected: Ran,
}

impl Judge {
    fn new(case: &Case) -> Self {
        let bundle = case.compile("fp64");
        let alone = case.compile_alone("fp64");
        let expected = expect(Ran::of(&alone, start(&alone, 3), UPDATES));
        let right = expect(Ran::of(&bundle, start(&bundle, 3), UPDATES));
        let (far, what) = right.apart(&expected);
        assert!(far < APART, "{case:?}: {what} is {far:e} off without a fault");
        Self { name: format!("{case:?}"), bundle, expected }
    }

    /// Manifests with a fault of a kind, in places spread over all there are.
    fn faults(&self, kind: &Kind) -> Vec<Manifest> {
        let all = (kind.make)(&self.bundle.manifest);
        let step = all.len().div_ceil(sites()).max(1);
        all.into_iter().step_by(step).collect()
    }

    fn judge(&self, manifest: Manifest) -> By {
        let rules = Session::new().vocabulary;
        let Ok(bundle) = Bundle::new(manifest, self.bundle.files.clone(), &rules) else { return By::Reading };
        let start = start(&self.bundle, 3);
        let (tell, told) = channel();
        std::thread::spawn(move || tell.send(Ran::of(&bundle, start, UPDATES)));
        match told.recv_timeout(PATIENCE) {
            Ok(Ok(found)) if found.apart(&self.expected).0 < APART => By::Nothing,
            Ok(Ok(_)) => By::Law,
            Ok(Err(_)) => By::Running,
            Err(RecvTimeoutError::Timeout) => By::Hanging,
            Err(RecvTimeoutError::Disconnected) => By::Panicking,
        }
    }
}

/// The differences of two manifests, for the report of a fault.
fn changes(found: &Manifest, expected: &Manifest) -> String {
    let lines = |manifest: &Manifest| {
        serde_json::to_string_pretty(manifest).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (found, expected) = (lines(found), lines(expected));
    let text = |lines: &[String]| lines.join("\n");
    let diff =
        similar::TextDiff::from_lines(&text(&expected), &text(&found)).unified_diff().context_radius(0).to_string();
    diff.lines().take(24).collect::<Vec<_>>().join("\n")
}

/// Each kind is made in some bundle, each fault is found, and what is said to compute the same does.
#[test]
fn faults_of_pipelines_are_found() {
    let judges = halite_tests::parallel::for_each(&CASES, Judge::new);
    let mut table = format!("{:58} sites reading running law same\n", "kind");
    let results = halite_tests::parallel::for_each(KINDS, |kind| {
        let (mut found, mut wrong) = ([0; 4], Vec::new());
        for judge in &judges {
            if !is_long() && found.iter().sum::<usize>() > 0 {
                break;
            }
            for manifest in judge.faults(kind) {
                let by = judge.judge(manifest.clone());
                if let Some(count) = found.get_mut(by as usize) {
                    *count += 1;
                }
                if matches!(by, By::Hanging | By::Panicking) || (by == By::Nothing) != kind.same.is_some() {
                    let changes = changes(&manifest, &judge.bundle.manifest);
                    wrong.push(format!("{} in {}: {by:?}\n{changes}", kind.name, judge.name));
                }
            }
        }
        (found, wrong)
    });
    let mut wrong = Vec::new();
    for (kind, (found, mistakes)) in KINDS.iter().zip(results) {
        let [reading, running, law, same] = found;
        let sites: usize = found.iter().sum();
        writeln!(table, "{:58} {sites:5} {reading:7} {running:7} {law:3} {same:4}", kind.name).unwrap();
        wrong.extend(mistakes);
        if sites == 0 {
            wrong.push(format!("{} is made nowhere", kind.name));
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{table}{}", wrong.join("\n"));
}
