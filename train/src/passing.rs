//! What passes: where a run fails by its device, another try may do.

use halite_support::{Code, Diagnostics, codes};

/// Whether the process that failed so may try again.
pub(super) fn may_pass_here(code: Code) -> bool {
    [codes::RUNTIME_EXECUTE, codes::NRT_STATUS].contains(&code)
}

/// Whether a run failed by what passes: its device, not its input. A process that is started again may do better also where a call did not
/// come back.
pub fn may_pass(errors: &Diagnostics) -> bool {
    errors.iter().all(|error| may_pass_here(error.code()) || error.code() == codes::NRT_TIMEOUT)
}
