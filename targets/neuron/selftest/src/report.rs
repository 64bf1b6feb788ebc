//! Reports of the self-test, without names of machines, users or files.

use serde::Serialize;
use std::time::Duration;

/// The version of the report format.
const FORM: u32 = 1;

/// The basis of a fact that a table or a document states, and that a check tests all the same.
pub const STATED: &str = "stated";

/// How a check ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All that it asked was answered as expected.
    Passed,
    /// Something was answered otherwise, or not at all.
    Failed,
    /// It could not be asked, for this reason.
    NotRun(String),
}

/// An answer that was not the expected one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Failure {
    /// The question.
    pub what: String,
    /// The answer.
    pub found: String,
    /// The expected answer; `None` where the program could not be compiled or run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The input; `None` where the program could not be compiled or run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

impl Failure {
    /// A wrong result.
    pub(crate) fn wrong(what: &str, found: String, expected: String, input: String) -> Self {
        Self { what: what.to_owned(), found, expected: Some(expected), input: Some(input) }
    }

    /// No result.
    pub(crate) fn broken(what: &str, reason: &str) -> Self {
        Self { what: what.to_owned(), found: reason.to_owned(), expected: None, input: None }
    }
}

/// The result of a check.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// Its name.
    pub name: &'static str,
    /// Its subject.
    pub about: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// How long it took on the clock, in seconds.
    pub seconds: f64,
    /// How many answers it asked for.
    pub asked: usize,
    /// The answers that were not as expected.
    pub failures: Vec<Failure>,
    /// Questions that it could not ask, with the reasons.
    pub left_out: Vec<String>,
    /// The meaning of a failure; `None` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<&'static str>,
}

/// The outcome of a run for a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every answer that rests on it was as expected.
    Confirmed,
    /// An answer that rests on it was not.
    Refuted,
    /// No answer decides it.
    Open,
}

impl Outcome {
    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Refuted => "refuted",
            Outcome::Open => "open",
        }
    }
}

/// The result of a run for a fact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FactReport {
    /// Its key.
    pub key: String,
    /// How reliable its source is.
    pub basis: &'static str,
    /// The presumption.
    pub presumed: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The checks that decided it, or would have.
    pub checks: Vec<&'static str>,
    /// The change in Halite that follows; `None` where it stays open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

/// The report of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// The version of this format.
    pub form: u32,
    /// The version of Halite.
    pub halite: &'static str,
    /// The target that programs were made for.
    pub target: String,
    /// The version of the compiler, as it prints it, or why there is none.
    pub compiler: String,
    /// The runtime with its version, or why there is none.
    pub runtime: String,
    /// The logical cores that it has.
    pub cores: usize,
    /// The result of each check.
    pub checks: Vec<CheckReport>,
    /// The result for each fact that rested on a conclusion or a single source.
    pub facts: Vec<FactReport>,
}

impl Report {
    /// A report without checks and facts.
    pub(crate) fn new(target: String, compiler: String, runtime: String, cores: usize) -> Self {
        let halite = env!("CARGO_PKG_VERSION");
        Self { form: FORM, halite, target, compiler, runtime, cores, checks: Vec::new(), facts: Vec::new() }
    }

    /// Whether a check failed, or none could be made.
    pub fn has_failed(&self) -> bool {
        let [passed, failed, _] = self.counts();
        failed > 0 || passed == 0
    }

    /// How many checks passed, failed, were not run.
    pub fn counts(&self) -> [usize; 3] {
        let count = |of: fn(&Verdict) -> bool| self.checks.iter().filter(|check| of(&check.verdict)).count();
        [
            count(|verdict| *verdict == Verdict::Passed),
            count(|verdict| *verdict == Verdict::Failed),
            count(|verdict| matches!(verdict, Verdict::NotRun(_))),
        ]
    }

    /// How many facts have this outcome.
    pub fn facts_that_are(&self, outcome: Outcome) -> usize {
        self.facts.iter().filter(|fact| fact.outcome == outcome).count()
    }
}

impl CheckReport {
    /// How long it took.
    pub fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }
}
