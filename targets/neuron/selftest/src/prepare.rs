//! Programs, inputs and expected results, made before anything of Neuron is asked.

use crate::bench::Bench;
use crate::check::{Case, Check, Told};
use crate::fact::{Fact, facts};
use halite_neuron::Generation;
use halite_support::Diagnostics;

/// Checks with their programs.
pub struct Prepared {
    pub(crate) bench: Bench,
    pub(crate) checks: Vec<Asked>,
    /// The facts that the tables of the target presume.
    pub facts: Vec<Fact>,
}

/// A check with its programs.
pub(crate) struct Asked {
    pub(crate) check: &'static dyn Check,
    /// The programs, or why they cannot be made.
    pub(crate) cases: Result<Vec<Case>, String>,
    /// The facts that it confirms or refutes.
    pub(crate) told: Vec<Told>,
}

/// Makes the programs of checks for a target whose compiler is of this version.
///
/// # Errors
/// When the preset does not load. A check whose programs cannot be made says so in its report.
pub fn prepare(
    checks: &[&'static dyn Check],
    target: Generation,
    compiler: Option<&str>,
) -> Result<Prepared, Diagnostics> {
    let bench = Bench::new(target, compiler)?;
    let ask = |check: &&'static dyn Check| {
        let cases = check.cases(&bench).map_err(|error| format!("its programs cannot be made: {}", error.message()));
        Asked { check: *check, cases, told: check.told() }
    };
    let checks = checks.iter().map(ask).collect();
    Ok(Prepared { checks, facts: facts(target), bench })
}
