//! The meeting of the processes of a run.

use super::door::{Met, meet};
use super::line::{Line, MOST, MOST_AT_FIRST, VERSION};
use super::options::{PeerOptions, apart};
use super::{END, Ending, Inner, Link, Peers, Streams, TICK, broadcast, other_rank};
use halite_runtime::GiveUp;
use halite_support::Result;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time beyond the leader's deadline in which the others wait for its answer.
const LONGER: Duration = Duration::from_secs(10);

/// The number of received lines that may wait. A rank sends one, and waits for the texts of all.
const QUEUE: usize = 64;

impl Peers {
    /// Meets the other processes.
    ///
    /// # Errors
    /// [`RANKS_APART`](halite_support::codes::RANKS_APART) when the address is none or is taken or not all come in time,
    /// [`OTHER_RANK`](halite_support::codes::OTHER_RANK) when one of the launch does not fit.
    pub fn join(options: &PeerOptions) -> Result<Self> {
        let PeerOptions { rank, world, patience, .. } = *options;
        if rank >= world || world < 2 {
            return Err(other_rank(&format!("there is no rank {rank} of {world} that meets others")));
        }
        let deadline = Instant::now() + patience;
        let met = match rank {
            0 => lead(options, deadline, &GiveUp::default())?,
            _ => Met { streams: vec![follow(options, deadline, &GiveUp::default())?], passed_over: Vec::new() },
        };
        Self::of(options, met).map_err(|error| options.at(&error.to_string()))
    }

    /// The peers of a process, once all have met. Each connection is read from here on.
    fn of(options: &PeerOptions, met: Met) -> io::Result<Self> {
        let PeerOptions { rank, world, patience, ref secret, .. } = *options;
        let secret = secret.clone();
        let Met { streams, passed_over } = met;
        let readers = streams.iter().map(TcpStream::try_clone).collect::<io::Result<Vec<_>>>()?;
        let streams: Streams = Arc::new(streams.into_iter().map(Mutex::new).collect());
        let (end, (said, heard)) = (Ending::default(), sync_channel(QUEUE));
        for (index, reader) in readers.into_iter().enumerate() {
            reader.set_read_timeout(None)?;
            let other = if rank == 0 { index + 1 } else { 0 };
            let listener = Listener { other, leads: rank == 0, said: said.clone(), end: end.clone() };
            let streams = Arc::clone(&streams);
            std::thread::Builder::new()
                .name(format!("rank {other}"))
                .spawn(move || listener.listen(reader, &streams))?;
        }
        let link = Mutex::new(Link { heard });
        Ok(Self(Arc::new(Inner { rank, world, patience, secret, end, link, streams, passed_over })))
    }
}

/// The listener to one other process.
struct Listener {
    other: usize,
    leads: bool,
    said: SyncSender<(usize, Line)>,
    end: Ending,
}

impl Listener {
    /// Passes lines on until the last exchange. A failure, or a connection that ends before, ends the run of all.
    fn listen(self, stream: TcpStream, streams: &Streams) {
        let mut stream = BufReader::new(stream);
        loop {
            let (reason, passes) = match Line::receive(&mut stream, MOST) {
                Some(Line::Failed { reason, passes }) => (reason, passes),
                Some(line) => {
                    let is_end = matches!(&line, Line::Say { point, .. } | Line::All { point, .. } if point == END);
                    // Nobody hears it where the run ended here.
                    let is_heard = self.said.send((self.other, line)).is_ok();
                    if is_end || !is_heard {
                        return;
                    }
                    continue;
                }
                None => (format!("{} is gone", self.end.named(self.other)), true),
            };
            self.end.because(&reason, passes);
            if let (true, Some(line)) = (self.leads, self.end.line()) {
                broadcast(streams, &line);
            }
            return;
        }
    }
}

fn resolve(options: &PeerOptions) -> Result<SocketAddr> {
    let found = options.address.to_socket_addrs().map_err(|error| options.at(&error.to_string()))?;
    found.into_iter().next().ok_or_else(|| options.at("the name has no address"))
}

/// Waits for all others, and welcomes them once they are there.
fn lead(options: &PeerOptions, deadline: Instant, give_up: &GiveUp) -> Result<Met> {
    let listener = TcpListener::bind(resolve(options)?).map_err(|error| {
        options.at(&error.to_string()).help("choose another root address, whose next port is free as well")
    })?;
    welcome(options, listener, deadline, give_up)
}

/// The same at a port that is open already.
pub(super) fn welcome(
    options: &PeerOptions,
    listener: TcpListener,
    deadline: Instant,
    give_up: &GiveUp,
) -> Result<Met> {
    let mut met = meet(options, listener, deadline, give_up)?;
    for stream in &mut met.streams {
        Line::Welcome.send(stream).map_err(|error| options.at(&error.to_string()))?;
    }
    Ok(met)
}

/// Connects to the first process, and waits until all are there. A process that accepts and ends without a line is not the first one,
/// or was too busy.
pub(super) fn follow(options: &PeerOptions, deadline: Instant, give_up: &GiveUp) -> Result<TcpStream> {
    let address = resolve(options)?;
    loop {
        let why = match greet(options, address, deadline) {
            Ok((stream, Line::Welcome)) => return Ok(stream),
            Ok((_, Line::Failed { reason, passes: false })) => return Err(other_rank(&reason)),
            Ok((_, Line::Failed { reason, passes: true })) => return Err(apart(&reason)),
            Ok(_) => "not all came, or what answers there is no process of this run".to_owned(),
            Err(error) => error.to_string(),
        };
        if let Some(reason) = give_up.reason() {
            return Err(other_rank(reason));
        }
        if Instant::now() >= deadline {
            return Err(options.at(&why));
        }
        std::thread::sleep(TICK);
    }
}

/// Sends the greeting of this process, and receives the answer.
fn greet(options: &PeerOptions, address: SocketAddr, deadline: Instant) -> io::Result<(TcpStream, Line)> {
    let left = || deadline.saturating_duration_since(Instant::now()).max(TICK);
    let mut stream = TcpStream::connect_timeout(&address, left())?;
    // A port that nobody listens at may be given to the very connection that looks for it.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let PeerOptions { rank, world, .. } = *options;
    stream.set_nodelay(true)?;
    // At its own deadline the leader tells who did not come.
    stream.set_read_timeout(Some(left() + LONGER))?;
    Line::Hello { version: VERSION, rank, world, secret: options.secret.clone() }.send(&mut stream)?;
    // Not a byte more than the line is taken from the stream, which the listener reads on.
    let answer = Line::receive(&mut BufReader::with_capacity(1, stream.try_clone()?), MOST_AT_FIRST);
    let ended = || io::Error::other("not all came, or what answers there is no process of this run");
    Ok((stream, answer.ok_or_else(ended)?))
}
