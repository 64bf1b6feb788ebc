//! What passes: where a run fails by its device, another try may do.

use halite_support::{Code, Diagnostics, codes};

/// Whether the process that failed so may try again.
pub(super) fn may_pass_here(code: Code) -> bool {
    [codes::RUNTIME_EXECUTE, codes::NRT_STATUS].contains(&code)
}

/// Whether a run failed by what passes: its device, not its input. Processes that are started again may do better also where a call did
/// not come back, or not all of them met.
pub fn may_pass(errors: &Diagnostics) -> bool {
    let passes = |code| may_pass_here(code) || [codes::NRT_TIMEOUT, codes::RANKS_APART].contains(&code);
    errors.iter().all(|error| passes(error.code()))
}
