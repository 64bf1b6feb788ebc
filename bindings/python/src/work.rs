//! Work that takes a while: without the interpreter's lock, ended by Ctrl-C, and with no panic that crosses into Python.

use crate::errors::Failure;
use halite::support::{CancelToken, Diagnostic};
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often Python is asked for signals: well below the 50 ms within which Ctrl-C ends a compile.
const SIGNALS: Duration = Duration::from_millis(10);

/// Does `work` on a thread of its own while this one waits for it without the interpreter's lock. A signal that Python makes an
/// exception of, as Ctrl-C does, throws the token, on which `work` ends.
///
/// # Errors
/// What `work` fails with; the exception of the signal; that it panicked, which is a bug.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&CancelToken) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let token = CancelToken::default();
    let (outcome, interrupt) = py.detach(|| {
        let (done, finished) = channel::<()>();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                // Dropped when the work ends in any way.
                let _done = done;
                work(&token)
            });
            let mut interrupt = None;
            while finished.recv_timeout(SIGNALS) == Err(RecvTimeoutError::Timeout) {
                if interrupt.is_none() {
                    interrupt = Python::attach(|py| py.check_signals()).err();
                    interrupt.iter().for_each(|_| token.cancel());
                }
            }
            (worker.join().unwrap_or_else(|panic| Err(panicked(&*panic))), interrupt)
        })
    });
    match (outcome, interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (outcome, None) => outcome.map_err(|failure| failure.raise(py)),
    }
}

/// Does `work` that takes no time on this thread.
///
/// # Errors
/// What `work` fails with; that it panicked, which is a bug.
pub(crate) fn here<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure>) -> PyResult<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)));
    outcome.map_err(|failure| failure.raise(py))
}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Diagnostic::bug(format!("internal error: {}", text.unwrap_or("a panic"))).into()
}
