//! The limit on the size of functions.

use halite_support::{Diagnostic, Result, codes};

/// The most values of a function, and of all functions of a module together: what a short text stands for, by loops, nested calls or
/// what composites are made of, may be more than any machine holds. This many take less than 2 GB on the way to HLO.
const MAX_VALUES: usize = 400_000;

/// Holds `values` of a function with this name, or of it and those before it, to what is possible.
///
/// # Errors
/// [`LIMIT`](codes::LIMIT) when there are more.
pub(crate) fn check_size(name: &str, values: usize) -> Result<()> {
    if values <= MAX_VALUES {
        return Ok(());
    }
    let message = format!("`@{name}` becomes more than {MAX_VALUES} instructions and arguments");
    Err(Diagnostic::error(codes::LIMIT, message)
        .note("instructions are counted once loops, calls and composites are written out")
        .help("repeat less: shorten loops, or chains of functions that call one another several times"))
}
