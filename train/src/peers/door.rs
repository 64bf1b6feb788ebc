//! The leader's admission of the other processes. Anyone may connect: each connection is read beside the others, for a while and for
//! few bytes, and refused unless it knows the secret of the launch.

use super::line::{Line, MOST_AT_FIRST, VERSION};
use super::options::PeerOptions;
use super::{TICK, other_rank, ranks};
use halite_runtime::GiveUp;
use halite_support::{Diagnostic, Result, codes};
use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// The time that a connection has to state its rank.
const GREETING: Duration = Duration::from_secs(10);

/// The number of connections that are read at a time, beside one for each rank. Beyond that, the oldest is closed.
const HEARD: usize = 64;

/// The number of refused connections that are described.
const TOLD: usize = 8;

/// The stack of the thread that reads one connection, in bytes.
const STACK: usize = 1 << 18;

/// The streams of all others in the order of their ranks, and descriptions of the refused connections.
pub(super) struct Met {
    pub(super) streams: Vec<TcpStream>,
    pub(super) passed_over: Vec<String>,
}

/// The admission of the processes of a run.
struct Door<'a> {
    options: &'a PeerOptions,
    deadline: Instant,
    listener: TcpListener,
    /// The connections that are being read, the oldest first.
    heard: VecDeque<TcpStream>,
    said: Receiver<(TcpStream, Greeting)>,
    say: SyncSender<(TcpStream, Greeting)>,
    streams: Vec<Option<TcpStream>>,
    passed_over: Vec<String>,
}

/// The first line of a connection.
enum Greeting {
    /// Its rank, the number of ranks, its version of the protocol, and its secret.
    Hello { version: u32, rank: usize, world: usize, secret: String },
    /// No line, or another one.
    Nothing,
}

/// Waits until all others are admitted.
///
/// # Errors
/// When not all come in time, one that knows the secret does not fit, or the run has ended.
pub(super) fn meet(options: &PeerOptions, listener: TcpListener, deadline: Instant, give_up: &GiveUp) -> Result<Met> {
    let (say, said) = sync_channel(HEARD);
    let streams = (1..options.world).map(|_| None).collect();
    let (heard, passed_over) = (VecDeque::new(), Vec::new());
    let mut door = Door { options, deadline, listener, heard, said, say, streams, passed_over };
    let met = door.all(give_up);
    if let Err(error) = &met {
        let is_late = error.code() == codes::RANKS_APART;
        door.streams.iter_mut().flatten().for_each(|stream| refuse(stream, error.message(), is_late));
    }
    met.map(|()| Met { streams: door.streams.into_iter().flatten().collect(), passed_over: door.passed_over })
}

impl Door<'_> {
    fn all(&mut self, give_up: &GiveUp) -> Result<()> {
        self.listener.set_nonblocking(true).map_err(|error| self.options.at(&error.to_string()))?;
        loop {
            let mut is_idle = true;
            if let Ok((stream, _)) = self.listener.accept() {
                is_idle = false;
                // One that cannot be heard is gone.
                _ = self.hear(stream);
            }
            while let Ok((stream, greeting)) = self.said.try_recv() {
                is_idle = false;
                self.take(stream, greeting)?;
            }
            if self.streams.iter().all(Option::is_some) {
                return Ok(());
            }
            if let Some(reason) = give_up.reason() {
                return Err(other_rank(reason));
            }
            if Instant::now() >= self.deadline {
                return Err(self.late());
            }
            if is_idle {
                std::thread::sleep(TICK);
            }
        }
    }

    /// Reads the greeting of a connection, on a thread of its own.
    fn hear(&mut self, stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        self.heard.push_back(stream.try_clone()?);
        if self.heard.len() > HEARD + self.options.world
            && let Some(first) = self.heard.pop_front()
        {
            // It may be one of the run that is long known.
            let is_known = self.streams.iter().flatten().any(|known| is_same(known, &first));
            if !is_known {
                _ = first.shutdown(Shutdown::Both);
            }
        }
        let (say, until) = (self.say.clone(), self.deadline.min(Instant::now() + GREETING));
        let hear = move || {
            let greeting = greeting(&stream, until);
            // Whoever does not get through comes again.
            if let Err(TrySendError::Full((stream, _)) | TrySendError::Disconnected((stream, _))) =
                say.try_send((stream, greeting))
            {
                _ = stream.shutdown(Shutdown::Both);
            }
        };
        std::thread::Builder::new().name("door".to_owned()).stack_size(STACK).spawn(hear).map(drop)
    }

    /// Admits a connection by its greeting, or refuses it.
    ///
    /// # Errors
    /// When it knows the secret and does not fit.
    fn take(&mut self, mut stream: TcpStream, greeting: Greeting) -> Result<()> {
        let Greeting::Hello { version, rank, world, secret } = greeting else {
            self.pass_over(&stream, "said nothing of a run");
            _ = stream.shutdown(Shutdown::Both);
            return Ok(());
        };
        if version != VERSION {
            refuse(&mut stream, &format!("rank {rank} is started by another version of Halite"), false);
            self.pass_over(&stream, "is started by another version of Halite");
            return Ok(());
        }
        if secret != self.options.secret {
            refuse(&mut stream, "it is of another launch than rank 0, or has another bundle", false);
            let what = format!("says that it is rank {rank} of {world}, of another launch or with another bundle");
            self.pass_over(&stream, &what);
            return Ok(());
        }
        let own = self.options.world;
        let misfit = if world != own {
            format!("rank {rank} is one of {world}, rank 0 one of {own}")
        } else if rank == 0 || rank >= own {
            format!("there is no rank {rank} of {own} that rank 0 meets")
        } else {
            let known = &mut self.streams[rank - 1];
            // Of two that say the same, the second is told so and goes, unless the first is gone.
            if known.as_ref().is_some_and(|known| !is_gone(known)) {
                refuse(&mut stream, &format!("there are two processes of rank {rank}"), false);
            } else {
                *known = Some(stream);
            }
            return Ok(());
        };
        refuse(&mut stream, &misfit, false);
        Err(super::other_rank(&misfit))
    }

    fn pass_over(&mut self, stream: &TcpStream, what: &str) {
        let from = stream
            .peer_addr()
            .map_or_else(|_| "a process".to_owned(), |address| format!("a process at {}", address.ip()));
        let told = format!("{from} {what}");
        if self.passed_over.len() < TOLD && !self.passed_over.contains(&told) {
            self.passed_over.push(told);
        }
    }

    fn late(&self) -> Diagnostic {
        let absent = (1..self.options.world).filter(|rank| self.streams[rank - 1].is_none());
        let error = self.options.at(&format!("{} did not come", ranks(&absent.collect::<Vec<_>>())));
        self.passed_over.iter().fold(error, |error, told| error.note(format!("passed over: {told}")))
    }
}

/// Reads the first line of a connection, until a moment.
fn greeting(stream: &TcpStream, until: Instant) -> Greeting {
    let reader = BufReader::with_capacity(1, Until { stream, until });
    match Line::receive(&mut { reader }, MOST_AT_FIRST) {
        Some(Line::Hello { version, rank, world, secret }) => Greeting::Hello { version, rank, world, secret },
        _ => Greeting::Nothing,
    }
}

/// A stream that is read until a moment, however its bytes come.
struct Until<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

/// Whether the other end was closed. A process that waits for admission sends nothing more.
fn is_gone(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    _ = stream.set_nonblocking(false);
    !looked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

fn is_same(one: &TcpStream, other: &TcpStream) -> bool {
    matches!((one.peer_addr(), other.peer_addr()), (Ok(one), Ok(other)) if one == other)
}

/// Tells a process, if it still reads, why it is refused and whether another try may succeed. Nothing is sent after that.
fn refuse(stream: &mut TcpStream, reason: &str, passes: bool) {
    _ = Line::Failed { reason: reason.to_owned(), passes }.send(stream);
    _ = stream.shutdown(Shutdown::Write);
}
