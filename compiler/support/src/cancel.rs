//! Stopping work from outside.

use crate::{Diagnostic, Result, codes};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A switch that stops what looks at it: compiling many times in each pass, training between steps. Clones share the switch, so that
/// one can be thrown from another thread.
///
/// ```
/// let token = halite_support::CancelToken::default();
/// assert!(token.check().is_ok());
/// token.clone().cancel();
/// assert_eq!(token.check().unwrap_err().code().id, "E0690");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Switch>);

#[derive(Debug, Default)]
struct Switch {
    is_thrown: AtomicBool,
    /// Looks until it throws itself, where it does.
    left: Option<AtomicU64>,
}

thread_local! {
    /// The token of what this thread does.
    static CURRENT: RefCell<CancelToken> = RefCell::default();
}

impl CancelToken {
    /// One that throws itself after so many looks, for tests of what looks at it.
    pub fn after(looks: u64) -> Self {
        Self(Arc::new(Switch { is_thrown: AtomicBool::new(false), left: Some(AtomicU64::new(looks)) }))
    }

    /// The number of looks until it throws itself, where it does.
    pub fn looks_left(&self) -> Option<u64> {
        self.0.left.as_ref().map(|left| left.load(Ordering::Relaxed))
    }

    /// The token of the work that this thread does; outside of [`within`](Self::within), one that nobody throws.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Does `work`, in which [`check_cancelled`] looks at this switch. Threads that it starts do so with
    /// [`Caller::within`](crate::Caller::within).
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts back what was there, also when the work panics.
        struct Restore(CancelToken);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.with_borrow_mut(|current| std::mem::swap(current, &mut self.0));
            }
        }
        let _restore = Restore(CURRENT.replace(self.clone()));
        work()
    }

    /// Throws the switch, for good.
    pub fn cancel(&self) {
        self.0.is_thrown.store(true, Ordering::Relaxed);
    }

    /// Whether it is thrown.
    pub fn is_cancelled(&self) -> bool {
        if let Some(left) = &self.0.left
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            self.cancel();
        }
        self.0.is_thrown.load(Ordering::Relaxed)
    }

    /// Goes on only while it is not thrown.
    ///
    /// # Errors
    /// With the code [`CANCELLED`](codes::CANCELLED) once it is.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Diagnostic::error(codes::CANCELLED, "the work was cancelled"));
        }
        Ok(())
    }
}

/// Goes on only while the work that this thread does is not cancelled ([`CancelToken::within`]). It takes some nanoseconds, so that
/// whatever may take more than some milliseconds asks for each of its parts.
///
/// # Errors
/// As [`CancelToken::check`].
pub fn check_cancelled() -> Result<()> {
    CURRENT.with_borrow(CancelToken::check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Caller;

    #[test]
    fn work_looks_at_the_token_it_is_done_within() {
        let (outer, inner) = (CancelToken::default(), CancelToken::default());
        inner.cancel();
        outer.within(|| {
            assert!(inner.within(check_cancelled).is_err());
            assert!(check_cancelled().is_ok());
            let panicked = std::panic::catch_unwind(|| inner.within(|| panic!("{:?}", check_cancelled())));
            assert!(panicked.is_err() && check_cancelled().is_ok());
            outer.cancel();
            let caller = Caller::current();
            let elsewhere = |work: fn(&Caller) -> Result<()>| {
                std::thread::scope(|scope| scope.spawn(|| work(&caller)).join().expect("no panic"))
            };
            assert!(elsewhere(|_| check_cancelled()).is_ok());
            assert_eq!(elsewhere(|caller| caller.within(check_cancelled)).unwrap_err().code(), codes::CANCELLED);
        });
        assert!(check_cancelled().is_ok());
    }

    #[test]
    fn a_token_throws_itself_after_some_looks() {
        let token = CancelToken::after(2);
        assert!(token.check().is_ok() && token.check().is_ok());
        assert_eq!(token.looks_left(), Some(0));
        assert!(token.check().is_err() && token.check().is_err());
        assert_eq!(CancelToken::default().looks_left(), None);
    }
}
