//! The code with which the program ends.

use halite_support::{Diagnostic, Severity, codes};

/// The exit code of a run that a passing failure ended, with its work kept: start it again. It is `EX_TEMPFAIL` of `sysexits.h`.
pub(super) const TRY_AGAIN: u8 = 75;

/// The exit code of a run that ended with these diagnostics: 101 for a bug of the compiler, 3 for something that is
/// not installed, 2 for wrong input, 1 for a run that failed by its own measure, 0 when nothing is worse than a warning.
pub fn exit_code(diagnostics: &[Diagnostic]) -> u8 {
    let code = |diagnostic: &Diagnostic| match diagnostic.severity() {
        Severity::Note | Severity::Warning => 0,
        Severity::Bug => 101,
        Severity::Error if is_missing(diagnostic) => 3,
        Severity::Error if is_failure(diagnostic) => 1,
        Severity::Error => 2,
    };
    diagnostics.iter().map(code).max().unwrap_or(0)
}

fn is_missing(diagnostic: &Diagnostic) -> bool {
    let plugin = [codes::PLUGIN_INSTALL, codes::PLUGIN_MISSING, codes::PLUGIN_UNUSABLE];
    let neuron = [codes::COMPILER_MISSING, codes::COMPILER_UNUSABLE, codes::NRT_MISSING, codes::NRT_UNUSABLE];
    plugin.contains(&diagnostic.code()) || neuron.contains(&diagnostic.code())
}

fn is_failure(diagnostic: &Diagnostic) -> bool {
    [codes::DIVERGED, codes::CAUSALITY, codes::COMPILER_FAILED, codes::COMPILER_STOPPED].contains(&diagnostic.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_tell_whose_fault_it_is() {
        let error = Diagnostic::error(codes::RECIPE_RANGE, "`seq` is 0");
        assert_eq!(exit_code(&[]), 0);
        assert_eq!(exit_code(&[Diagnostic::warning(codes::UNUSED, "w")]), 0);
        assert_eq!(exit_code(std::slice::from_ref(&error)), 2);
        assert_eq!(exit_code(&[Diagnostic::error(codes::PLUGIN_MISSING, "m")]), 3);
        assert_eq!(exit_code(&[Diagnostic::error(codes::CAUSALITY, "c")]), 1);
        assert_eq!(exit_code(&[error, Diagnostic::bug("b")]), 101);
    }
}
