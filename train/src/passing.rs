//! Transient errors: failures of a device, after which another try may succeed.

use halite_support::{Code, Diagnostics, codes};

/// Whether an error with this code is transient, so that the same process may try again.
pub(super) fn may_pass_here(code: Code) -> bool {
    [codes::RUNTIME_EXECUTE, codes::NRT_STATUS].contains(&code)
}

/// Whether the errors of a run are all transient: failures of its device, not of its input. Processes that are started again may also
/// succeed where a call did not return, or where not all of them met.
pub fn may_pass(errors: &Diagnostics) -> bool {
    let passes = |code| may_pass_here(code) || [codes::NRT_TIMEOUT, codes::RANKS_APART].contains(&code);
    errors.iter().all(|error| passes(error.code()))
}
