//! The processes of a run, one for each rank.
//!
//! They meet at a port of the first one, the leader, and send lines of JSON. Everything they do together is built on one all-gather:
//! each process sends a text, and all receive the texts of all. So they agree on what runs and when it ends, and know when each part of
//! a state is written. A connection that ends early ends the run of all others, with the number of the rank: their devices would wait
//! for it forever.

mod direct;
mod door;
mod join;
mod line;
mod options;

use crate::passing::may_pass;
use halite_runtime::GiveUp;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use line::Line;
pub use options::PeerOptions;

/// The interval between two checks for an early end of the run.
const TICK: Duration = Duration::from_millis(50);

/// The point of the last exchange: after it, connections may end.
const END: &str = "the end";

/// The other processes of a run. Clones share one state.
#[derive(Clone, Debug)]
pub struct Peers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    rank: usize,
    world: usize,
    patience: Duration,
    /// The secret of the launch.
    secret: String,
    end: Ending,
    link: Mutex<Link>,
    /// The streams to the others: of the leader to each by rank, of any other process to the leader alone.
    streams: Streams,
    /// Descriptions of connections that were refused, as they were not of the run.
    passed_over: Vec<String>,
}

/// The reason for which the run of all ends early. Clones share it.
#[derive(Clone, Debug, Default)]
struct Ending {
    give_up: GiveUp,
    passes: Arc<OnceLock<bool>>,
    /// The number of ranks of a stage, where there are several stages.
    in_stage: Arc<OnceLock<usize>>,
}

impl Ending {
    /// Sets the reason, unless there is one, and whether it is transient.
    fn because(&self, reason: &str, passes: bool) {
        self.passes.get_or_init(|| passes);
        self.give_up.because(reason);
    }

    /// The line that tells the reason to others.
    fn line(&self) -> Option<Line> {
        let reason = self.give_up.reason()?.to_owned();
        Some(Line::Failed { reason, passes: self.passes() })
    }

    fn passes(&self) -> bool {
        self.passes.get().copied().unwrap_or(false)
    }

    /// A rank in words, with its stage where there are several.
    fn named(&self, rank: usize) -> String {
        match self.in_stage.get() {
            Some(ranks) => format!("rank {rank}, of stage {},", rank / ranks),
            None => format!("rank {rank}"),
        }
    }
}

/// The streams that lines are sent to, from several threads.
type Streams = Arc<Vec<Mutex<TcpStream>>>;

/// The incoming lines.
#[derive(Debug)]
struct Link {
    /// Lines with the rank that sent them. In any process but the leader these are lines of the leader, with what all ranks said.
    heard: Receiver<(usize, Line)>,
}

impl Peers {
    /// The number of this process.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// The number of processes.
    pub fn world(&self) -> usize {
        self.0.world
    }

    /// Whether this process speaks for all, and writes what is written once.
    pub fn leads(&self) -> bool {
        self.0.rank == 0
    }

    /// Descriptions of the first few connections that the leader refused, as they were not of the run.
    pub fn passed_over(&self) -> &[String] {
        &self.0.passed_over
    }

    /// The signal that tells an executor that another process failed.
    pub fn give_up(&self) -> GiveUp {
        self.0.end.give_up.clone()
    }

    /// Whether the failure that ended the run of all is transient: a device that failed, or a process that is gone.
    pub fn may_pass(&self) -> bool {
        self.0.end.passes()
    }

    /// Has ranks named with their stages, where there are several of so many ranks each.
    pub(super) fn in_stages_of(&self, ranks: usize) {
        if ranks > 0 && ranks < self.world() {
            // What was told before stands.
            let _ = self.0.end.in_stage.set(ranks);
        }
    }

    /// The time to wait for the others.
    pub(super) fn patience(&self) -> Duration {
        self.0.patience
    }

    /// The error of the failure that ended the run of all, if it has ended.
    pub(super) fn ended(&self) -> Option<Diagnostic> {
        self.0.end.give_up.reason().map(other_rank)
    }

    /// Sends a text at a point that all processes reach, and returns the texts of all, in the order of ranks.
    ///
    /// # Errors
    /// [`OTHER_RANK`](codes::OTHER_RANK) when another process failed, is gone, is at another point, or does not come.
    pub fn exchange(&self, point: &str, said: &str) -> Result<Vec<String>> {
        let link = self.0.link.lock().unwrap_or_else(PoisonError::into_inner);
        if self.leads() { self.gather(&link, point, said) } else { self.follow(&link, point, said) }
    }

    /// Ends the run together: all have done what they had to.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    pub fn end(&self) -> Result<()> {
        self.exchange(END, "").map(drop)
    }

    /// Tells the others that this process cannot go on, unless another one is why.
    pub fn fail(&self, errors: &Diagnostics) {
        let own = errors.iter().find(|error| error.code() != codes::OTHER_RANK);
        let Some(error) = own.filter(|_| self.0.end.give_up.reason().is_none()) else { return };
        let reason = format!("{} failed: {}", self.0.end.named(self.0.rank), error.message());
        self.stop(&reason, may_pass(errors));
    }

    /// The exchange of the leader: receives the texts of all others, and sends them to all.
    fn gather(&self, link: &Link, point: &str, said: &str) -> Result<Vec<String>> {
        let mut all: Vec<Option<String>> = vec![None; self.0.world];
        all[0] = Some(said.to_owned());
        let deadline = Instant::now() + self.0.patience;
        while all.iter().any(Option::is_none) {
            let Some((rank, line)) = self.next(link, deadline)? else {
                let missing: Vec<usize> = (0..all.len()).filter(|rank| all[*rank].is_none()).collect();
                return Err(self.lose(format!("{} did not come to {point}", ranks(&missing)), true));
            };
            match line {
                Line::Say { point: at, said } if at == point => all[rank] = Some(said),
                Line::Say { point: at, .. } => {
                    return Err(self.lose(format!("rank {rank} is at {at}, rank 0 at {point}"), false));
                }
                _ => return Err(self.lose(format!("rank {rank} says what no rank says"), false)),
            }
        }
        let all: Vec<String> = all.into_iter().flatten().collect();
        broadcast(&self.0.streams, &Line::All { point: point.to_owned(), said: all.clone() });
        Ok(all)
    }

    /// The exchange of any other process: sends its text to the leader, and receives the texts of all.
    fn follow(&self, link: &Link, point: &str, said: &str) -> Result<Vec<String>> {
        broadcast(&self.0.streams, &Line::Say { point: point.to_owned(), said: said.to_owned() });
        match self.next(link, Instant::now() + self.0.patience)? {
            Some((_, Line::All { point: at, said })) if at == point && said.len() == self.0.world => Ok(said),
            Some(_) => Err(self.lose(format!("rank 0 is not at {point}, as rank {} is", self.0.rank), false)),
            None => Err(self.lose(format!("rank 0 did not come to {point}"), true)),
        }
    }

    /// The next line; `None` where none comes before the deadline.
    fn next(&self, link: &Link, deadline: Instant) -> Result<Option<(usize, Line)>> {
        loop {
            match link.heard.recv_timeout(TICK) {
                Ok(line) => return Ok(Some(line)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if let Some(reason) = self.0.end.give_up.reason() {
                return Err(other_rank(reason));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            // Where all senders are gone, waiting is not done above.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends the run of all for a reason that is found here.
    pub(super) fn lose(&self, reason: String, passes: bool) -> Diagnostic {
        self.stop(&reason, passes);
        other_rank(&reason)
    }

    fn stop(&self, reason: &str, passes: bool) {
        self.0.end.because(reason, passes);
        if let Some(line) = self.0.end.line() {
            broadcast(&self.0.streams, &line);
        }
    }
}

impl Drop for Inner {
    /// Closes the connections: the listeners of this process end, and the others see that it is gone.
    fn drop(&mut self) {
        for stream in self.streams.iter() {
            // One that is closed already is.
            let _ = stream.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Both);
        }
    }
}

/// Sends a line to all. A process that it does not reach is found gone by the thread that reads from it.
fn broadcast(streams: &Streams, line: &Line) {
    for stream in streams.iter() {
        let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = line.send(&mut *stream);
    }
}

fn other_rank(reason: &str) -> Diagnostic {
    Diagnostic::error(codes::OTHER_RANK, reason)
}

/// Ranks in words.
fn ranks(numbers: &[usize]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = numbers.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = if numbers.len() > SHOWN { format!(" and {} more", numbers.len() - SHOWN) } else { String::new() };
    format!("rank{} {}{more}", if numbers.len() == 1 { "" } else { "s" }, shown.join(", "))
}

#[cfg(test)]
mod tests;
