//! Code of others that panics on wrong data.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `act` and returns its result, or the message of its panic. `act` is not called again on the state that a panic left behind.
///
/// A hook of panics is called nevertheless, and asks [`is_contained`].
///
/// # Errors
/// When `act` panics.
pub fn contained<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    IS_CONTAINED.set(before);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        text.unwrap_or("a panic").to_owned()
    })
}

/// Whether a panic of this thread is an answer that somebody waits for, and no bug to tell of.
pub fn is_contained() -> bool {
    IS_CONTAINED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_answers_within_and_not_outside() {
        assert_eq!(contained(is_contained), Ok(true));
        assert_eq!(contained(|| assert!(!is_contained(), "it {}", "is")), Err("it is".to_owned()));
        assert!(!is_contained());
    }
}
