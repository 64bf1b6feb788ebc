//! Work that takes a while: without the interpreter's lock, ended by Ctrl-C, and with no panic that crosses into Python.

use crate::errors::Failure;
use crate::wait::{self, Outcome, Step, Work, wait};
use halite::passes::{Progress, Watch};
use halite::support::Diagnostic;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Does `work` on a thread of its own while this one waits for it without the interpreter's lock. A signal that Python makes an
/// exception of, as Ctrl-C does, ends it; so does an exception of `progress`, which is called with the message, what is done and what
/// there is to do.
///
/// # Errors
/// An error of `work`; the exception of the signal or of `progress`; a bug, where `work` panicked.
pub(crate) fn told<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Work) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let tick = |step: Option<Step>| {
        Python::attach(|py| {
            py.check_signals()?;
            if let (Some(progress), Some(Step { message, done, total })) = (&progress, step) {
                progress.call1(py, (message, done, total))?;
            }
            Ok(())
        })
    };
    let outcome: Outcome<_, PyErr> = py.detach(|| wait(tick, work));
    match outcome {
        Outcome::Done(done) => done.map_err(|failure| failure.raise(py)),
        Outcome::Panicked(message) => Err(panicked(&message).raise(py)),
        Outcome::Interrupted(interrupt) => Err(interrupt),
    }
}

/// As [`told`], and nobody hears of it.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce(&Work) -> Result<T, Failure> + Send) -> PyResult<T> {
    told(py, None, work)
}

/// Watches passes for some work: stops them when it is cancelled, and reports each.
pub(crate) fn watch(work: &Work) -> Watch {
    let passes = Passes { work: work.clone(), started: AtomicU64::new(0) };
    Watch { cancel: work.cancel.clone(), progress: Some(Arc::new(passes)) }
}

struct Passes {
    work: Work,
    /// The number of passes that were started.
    started: AtomicU64,
}

impl Progress for Passes {
    fn started(&self, module: &str, pass: &str) {
        let before = self.started.fetch_add(1, Ordering::Relaxed);
        // Passes look at the token themselves.
        _ = self.work.step(format!("{module}: {pass}"), before, None);
    }
}

/// Does `work` that takes no time on this thread.
///
/// # Errors
/// An error of `work`; a bug, where it panicked.
pub(crate) fn here<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|failure| failure.raise(py)),
        Err(panic) => Err(panicked(&wait::message(&*panic)).raise(py)),
    }
}

fn panicked(message: &str) -> Failure {
    Diagnostic::bug(format!("internal error: {message}")).into()
}
