//! Compiles programs to NEFFs.

use crate::check::Case;
use crate::place::{Limits, Place};
use crate::scrub::scrub;
use halite_neuron::Generation;
use halite_neuron::neuronx::{self, Compiler, End, Observer, Options, Outcome, Store, Task};
use halite_support::{Diagnostic, Result, codes};
use std::path::{Path, PathBuf};

/// Nobody watches single compiles: the self-test tells what it compiles by itself.
struct Unwatched;

impl Observer for Unwatched {}

/// The reason why a case has no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Trouble {
    /// In words without paths.
    pub(crate) reason: String,
    /// Whether it refutes the facts that the case rests on: the compiler refuses the program, or a second run of one that ran fails.
    /// Other failures and hangs say nothing about facts.
    pub(crate) is_refused: bool,
}

impl Trouble {
    /// A failure that says nothing about facts.
    pub(crate) fn other(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_refused: false }
    }
}

/// The NEFF of each case, or why the compiler made none, in words without paths.
pub(crate) fn compile(
    cases: &[&Case],
    (target, flags): (Generation, &[String]),
    (place, compiler): (&Place, &Compiler),
    limits: &Limits<'_>,
) -> Vec<std::result::Result<PathBuf, Trouble>> {
    let output = place.work.join("neff");
    let all = || -> Result<Vec<Outcome>> {
        let task = |case: &&Case| Task::of(&case.name, &case.program.hlo, target, &flags_of(case, flags));
        let tasks = cases.iter().map(task).collect::<Result<Vec<Task>>>()?;
        let store = Store::open(&place.work.join("store"))?;
        let options = Options {
            jobs: limits.jobs,
            timeout: Some(limits.compile),
            ..Options::new(compiler, &store, &output, limits.interrupt)
        };
        let outcomes = neuronx::compile(&tasks, &options, &Unwatched);
        store.close();
        outcomes
    };
    match all() {
        Ok(outcomes) => cases.iter().zip(&outcomes).map(|(case, outcome)| neff(&output, case, outcome)).collect(),
        Err(error) => cases.iter().map(|_| Err(Trouble::other(scrub(error.message())))).collect(),
    }
}

/// The flags of a case: its own, after those of all programs unless it asks what the compiler makes of its own alone.
fn flags_of(case: &Case, flags: &[String]) -> Vec<String> {
    let shared = if case.is_bare { &[] } else { flags };
    shared.iter().chain(&case.flags).cloned().collect()
}

fn neff(folder: &Path, case: &Case, outcome: &Outcome) -> std::result::Result<PathBuf, Trouble> {
    match &outcome.end {
        End::Failed(error) => Err(Trouble { reason: reason(error), is_refused: is_refusal(error) }),
        _ => Ok(folder.join(format!("{}.neff", case.name))),
    }
}

/// The compiler's message, without the place of its log.
fn reason(error: &Diagnostic) -> String {
    let is_about_files = |note: &str| note.contains("its log is") || note.contains("everything it wrote is");
    let notes = error.notes().iter().filter(|note| !is_about_files(note)).take(3).map(|note| scrub(note));
    std::iter::once(scrub(error.message())).chain(notes).collect::<Vec<_>>().join("; ")
}

/// Whether the compiler ended by itself and made nothing.
fn is_refusal(error: &Diagnostic) -> bool {
    error.code() == codes::COMPILER_FAILED && !error.message().contains("did not finish")
}
