//! Waiting for work that another thread does, while looking at the clock.

use halite::support::{CancelToken, Result};
use std::any::Any;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The interval at which the waiting thread looks up: well below the 50 ms within which Ctrl-C ends a compile.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// The progress of work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) message: String,
    pub(crate) done: u64,
    /// The amount of work, where that is known.
    pub(crate) total: Option<u64>,
}

/// A message of the work to the waiting thread.
enum Told {
    Step(Step),
    /// Something that is done there, at once.
    Call(Box<dyn FnOnce() + Send>),
}

/// The handle by which running work is cancelled and reports its progress. The work has ended when all clones are dropped.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) cancel: CancelToken,
    told: Sender<Told>,
}

impl Work {
    /// Says how far the work is.
    ///
    /// # Errors
    /// Once the work is to end.
    pub(crate) fn step(&self, message: impl Into<String>, done: u64, total: Option<u64>) -> Result<()> {
        let step = Step { message: message.into(), done, total };
        // Nobody listens where the waiting thread is no more.
        _ = self.told.send(Told::Step(step));
        self.cancel.check()
    }

    /// Has the waiting thread do something, and waits for what comes of it; `None` where that thread is no more.
    pub(crate) fn call<T: Send + 'static>(&self, what: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (reply, replied) = channel();
        let call = move || _ = reply.send(what());
        self.told.send(Told::Call(Box::new(call))).ok()?;
        replied.recv().ok()
    }
}

/// The outcome of work.
#[derive(PartialEq, Debug)]
pub(crate) enum Outcome<T, I> {
    Done(T),
    /// It panicked with this message.
    Panicked(String),
    /// The waiting thread ended it.
    Interrupted(I),
}

/// Does `work` on a thread of its own. Its [calls](Work::call) are done on this one. Every [`TICK`] this thread calls `tick` with the
/// last step that was reported since. An error of `tick` ends the work: its token is cancelled, and it is waited for.
pub(crate) fn wait<T: Send, I>(
    mut tick: impl FnMut(Option<Step>) -> std::result::Result<(), I>,
    work: impl FnOnce(&Work) -> T + Send,
) -> Outcome<T, I> {
    let (tell, told) = channel();
    let cancel = CancelToken::default();
    let own = Work { cancel: cancel.clone(), told: tell };
    thread::scope(|scope| {
        // What it tells by is moved into its thread, so that its end closes the channel.
        let worker = scope.spawn(move || {
            let own = own;
            work(&own)
        });
        let mut ticks = Ticks { told, next: Instant::now() + TICK };
        let mut interrupt = None;
        while let Some(step) = ticks.wait() {
            if interrupt.is_none() {
                interrupt = tick(step).err();
                interrupt.iter().for_each(|_| cancel.cancel());
            }
        }
        match (worker.join(), interrupt) {
            (_, Some(interrupt)) => Outcome::Interrupted(interrupt),
            (Ok(done), None) => Outcome::Done(done),
            (Err(panic), None) => Outcome::Panicked(message(&*panic)),
        }
    })
}

/// The message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic").to_owned()
}

/// When the waiting thread looks up.
struct Ticks {
    told: Receiver<Told>,
    next: Instant,
}

impl Ticks {
    /// Waits for the next tick, with the last step that was told since, if any was; `None` when the work has ended.
    #[expect(clippy::option_option, reason = "a tick may come without a step")]
    fn wait(&mut self) -> Option<Option<Step>> {
        let mut last = None;
        loop {
            match self.told.recv_timeout(self.next.saturating_duration_since(Instant::now())) {
                Ok(Told::Step(step)) => last = Some(step),
                Ok(Told::Call(call)) => call(),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= self.next {
                self.next = Instant::now() + TICK;
                return Some(last);
            }
        }
    }
}
