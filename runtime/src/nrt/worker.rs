//! The one thread that calls the library.
//!
//! No source says which functions may be called from several threads at once, so all calls are made by one thread, in order. A call
//! that does not come back is given up: nothing more is called, and nothing that it may be using is freed.

use super::error::NrtError;
use super::library::Functions;
use super::status::NrtCall;
use crate::{Result, RuntimeError};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::time::Duration;

type Job = Box<dyn FnOnce(&Functions) + Send>;

/// A thread with the functions of the library.
pub(super) struct Worker {
    jobs: Sender<Job>,
    /// The call that was given up.
    stuck: OnceLock<(NrtCall, Duration)>,
}

impl Worker {
    /// Starts the thread. It ends when the worker is dropped, after what is under way.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub(super) fn start(functions: Functions) -> std::io::Result<Self> {
        let (jobs, todo) = channel::<Job>();
        let work = move || todo.into_iter().for_each(|job| job(&functions));
        std::thread::Builder::new().name("libnrt".to_owned()).spawn(work)?;
        Ok(Self { jobs, stuck: OnceLock::new() })
    }

    /// Has the thread do something, and waits for it.
    ///
    /// # Errors
    /// When it takes longer than the limit, or something before it did.
    pub(super) fn call<T: Send + 'static>(
        &self,
        call: NrtCall,
        limit: Duration,
        job: impl FnOnce(&Functions) -> T + Send + 'static,
    ) -> Result<T> {
        let (done, result) = sync_channel(1);
        // Nobody waits any more where a call was given up.
        self.post(move |functions| drop(done.send(job(functions))));
        if let Some((call, limit)) = self.stuck.get() {
            return Err(NrtError::Timeout { call: *call, limit: *limit }.into());
        }
        match result.recv_timeout(limit) {
            Ok(result) => Ok(result),
            Err(RecvTimeoutError::Timeout) => {
                let (call, limit) = *self.stuck.get_or_init(|| (call, limit));
                Err(NrtError::Timeout { call, limit }.into())
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(RuntimeError::Unsupported("the thread that calls libnrt has ended".into()))
            }
        }
    }

    /// Has the thread do something when its turn comes; nothing where a call was given up.
    pub(super) fn post(&self, job: impl FnOnce(&Functions) + Send + 'static) {
        if !self.is_stuck() {
            // It ends with the worker alone, so that there is a thread to send to.
            let _ = self.jobs.send(Box::new(job));
        }
    }

    /// Whether a call was given up.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck.get().is_some()
    }
}
