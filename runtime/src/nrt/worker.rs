//! The one thread that calls the library.
//!
//! No source says which functions may be called from several threads at once, so all calls are made by one thread, in order. A call
//! that does not come back is given up: nothing more is called, and nothing that it may be using is freed.

use super::error::NrtError;
use super::library::Functions;
use super::status::NrtCall;
use crate::{GiveUp, Result, RuntimeError};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce(&Functions) + Send>;

/// The interval at which a waiting call checks whether it is to be given up.
const TICK: Duration = Duration::from_millis(50);

/// A thread with the functions of the library.
pub(super) struct Worker {
    jobs: Sender<Job>,
    give_up: GiveUp,
    /// The error of the call that was given up.
    stuck: OnceLock<NrtError>,
}

impl Worker {
    /// Starts the thread. It ends when the worker is dropped, after what is under way.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub(super) fn start(functions: Functions, give_up: GiveUp) -> std::io::Result<Self> {
        let (jobs, todo) = channel::<Job>();
        let work = move || todo.into_iter().for_each(|job| job(&functions));
        std::thread::Builder::new().name("libnrt".to_owned()).spawn(work)?;
        Ok(Self { jobs, give_up, stuck: OnceLock::new() })
    }

    /// Has the thread do something, and waits for it.
    ///
    /// # Errors
    /// When it takes longer than the limit or is given up, or something before it was.
    pub(super) fn call<T: Send + 'static>(
        &self,
        call: NrtCall,
        limit: Duration,
        job: impl FnOnce(&Functions) -> T + Send + 'static,
    ) -> Result<T> {
        let (done, result) = sync_channel(1);
        // Nobody waits any more where a call was given up.
        self.post(move |functions| drop(done.send(job(functions))));
        let deadline = Instant::now().checked_add(limit);
        let left = || deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(Instant::now()));
        loop {
            if let Some(error) = self.stuck.get() {
                return Err(error.clone().into());
            }
            match result.recv_timeout(left().min(TICK)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RuntimeError::Unsupported("the thread that calls libnrt has ended".into()));
                }
                Err(RecvTimeoutError::Timeout) => self.look(call, limit, left().is_zero()),
            }
        }
    }

    /// Gives a call up where its time is over or nothing is worth waiting for.
    fn look(&self, call: NrtCall, limit: Duration, is_over: bool) {
        let reason = self.give_up.reason().map(str::to_owned);
        let error = match (reason, is_over) {
            (Some(reason), _) => NrtError::GivenUp { call, reason },
            (None, true) => NrtError::Timeout { call, limit },
            (None, false) => return,
        };
        self.stuck.get_or_init(|| error);
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
