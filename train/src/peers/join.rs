//! How the processes of a run meet.

use super::line::{Line, VERSION, receive, send};
use super::{END, Ending, Inner, Link, Peers, Streams, TICK, broadcast, other_rank, ranks};
use halite_support::{Diagnostic, Result};
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long one that connects may take to say who it is.
const GREETING: Duration = Duration::from_secs(10);

/// Which process this is, and where all meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerOptions {
    /// The number of this process, from 0: that of its rank. The first one leads.
    pub rank: usize,
    /// How many there are, at least two.
    pub world: usize,
    /// `HOST:PORT` of the first one.
    pub address: String,
    /// How long is waited for the others, at the start and wherever all have to come to.
    pub patience: Duration,
}

impl Peers {
    /// Meets the other processes.
    ///
    /// # Errors
    /// When the address is none or is taken, the numbers do not fit, or not all come in time.
    pub fn join(options: &PeerOptions) -> Result<Self> {
        let PeerOptions { rank, world, patience, .. } = *options;
        if rank >= world || world < 2 {
            return Err(other_rank(&format!("there is no rank {rank} of {world} that meets others")));
        }
        let deadline = Instant::now() + patience;
        let streams = if rank == 0 { lead(options, deadline)? } else { vec![follow(options, deadline)?] };
        Self::of(options, streams).map_err(|error| at(options, &error.to_string()))
    }

    /// Of processes that met, each of which is listened to from here on.
    fn of(options: &PeerOptions, streams: Vec<TcpStream>) -> std::io::Result<Self> {
        let PeerOptions { rank, world, patience, .. } = *options;
        let readers = streams.iter().map(TcpStream::try_clone).collect::<std::io::Result<Vec<_>>>()?;
        let streams: Streams = Arc::new(streams.into_iter().map(Mutex::new).collect());
        let (end, (said, heard)) = (Ending::default(), channel());
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
        Ok(Self(Arc::new(Inner { rank, world, patience, end, link, streams })))
    }
}

/// What listens to one other process.
struct Listener {
    other: usize,
    leads: bool,
    said: Sender<(usize, Line)>,
    end: Ending,
}

impl Listener {
    /// Passes on what comes, until the end; what is not to come any more ends the run of all.
    fn listen(self, stream: TcpStream, streams: &Streams) {
        let mut stream = BufReader::new(stream);
        loop {
            let (reason, passes) = match receive(&mut stream) {
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
                None => (format!("rank {} is gone", self.other), true),
            };
            self.end.because(&reason, passes);
            if let (true, Some(line)) = (self.leads, self.end.line()) {
                broadcast(streams, &line);
            }
            return;
        }
    }
}

/// What is wrong with the place where all meet.
fn at(options: &PeerOptions, reason: &str) -> Diagnostic {
    let PeerOptions { rank, world, address, .. } = options;
    other_rank(&format!("rank {rank} of {world} does not meet the others at `{address}`: {reason}"))
}

fn resolve(options: &PeerOptions) -> Result<SocketAddr> {
    let found = options.address.to_socket_addrs().map_err(|error| at(options, &error.to_string()))?;
    found.into_iter().next().ok_or_else(|| at(options, "the name has no address"))
}

/// Waits for all others, and bids them welcome once they are there.
fn lead(options: &PeerOptions, deadline: Instant) -> Result<Vec<TcpStream>> {
    let listener = TcpListener::bind(resolve(options)?).map_err(|error| {
        at(options, &error.to_string()).help("choose another root address, whose next port is free as well")
    })?;
    listener.set_nonblocking(true).map_err(|error| at(options, &error.to_string()))?;
    let mut streams: Vec<Option<TcpStream>> = (1..options.world).map(|_| None).collect();
    while streams.iter().any(Option::is_none) {
        if let Ok((stream, _)) = listener.accept() {
            match greet(stream, options.world) {
                // Of two that say the same, one is told so and goes.
                Greeting::Rank(rank, mut stream) if streams[rank - 1].is_some() => {
                    refuse(&mut stream, format!("there are two processes of rank {rank}"));
                }
                Greeting::Rank(rank, stream) => streams[rank - 1] = Some(stream),
                Greeting::Misfit(reason) => {
                    streams.iter_mut().flatten().for_each(|stream| refuse(stream, reason.clone()));
                    return Err(other_rank(&reason));
                }
                Greeting::Stranger => {}
            }
            continue;
        }
        if Instant::now() >= deadline {
            let absent = (1..options.world).filter(|rank| streams[rank - 1].is_none());
            let reason = format!("{} did not come", ranks(&absent.collect::<Vec<_>>()));
            streams.iter_mut().flatten().for_each(|stream| refuse(stream, reason.clone()));
            return Err(at(options, &reason));
        }
        std::thread::sleep(TICK);
    }
    let mut streams: Vec<TcpStream> = streams.into_iter().flatten().collect();
    for stream in &mut streams {
        send(stream, &Line::Welcome).map_err(|error| at(options, &error.to_string()))?;
    }
    Ok(streams)
}

/// Who connects.
enum Greeting {
    /// One of the run.
    Rank(usize, TcpStream),
    /// One that takes itself for one of the run.
    Misfit(String),
    /// Anyone else.
    Stranger,
}

fn greet(stream: TcpStream, world: usize) -> Greeting {
    let prepared = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| stream.set_read_timeout(Some(GREETING)))
        .and_then(|()| stream.try_clone());
    let Ok(reader) = prepared else { return Greeting::Stranger };
    let (mut stream, Some(Line::Hello { version, rank, world: theirs })) =
        (stream, receive(&mut BufReader::with_capacity(1, reader)))
    else {
        return Greeting::Stranger;
    };
    let reason = match (version, rank, theirs) {
        (version, ..) if version != VERSION => format!("rank {rank} is started by another version of Halite"),
        (.., theirs) if theirs != world => format!("rank {rank} is one of {theirs}, rank 0 one of {world}"),
        (_, rank, _) if rank == 0 || rank >= world => format!("there is no rank {rank} of {world} that rank 0 meets"),
        _ => return Greeting::Rank(rank, stream),
    };
    refuse(&mut stream, reason.clone());
    Greeting::Misfit(reason)
}

/// Tells a process why it cannot take part, if it still hears.
fn refuse(stream: &mut TcpStream, reason: String) {
    let _ = send(stream, &Line::Failed { reason, passes: false });
}

/// Finds the first process, and waits until all are there.
fn follow(options: &PeerOptions, deadline: Instant) -> Result<TcpStream> {
    let address = resolve(options)?;
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() >= deadline => return Err(at(options, &error.to_string())),
            Err(_) => std::thread::sleep(TICK),
        }
    };
    let PeerOptions { rank, world, .. } = *options;
    let left = deadline.saturating_duration_since(Instant::now()).max(TICK);
    let hello = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(Some(left)))
        .and_then(|()| send(&mut stream, &Line::Hello { version: VERSION, rank, world }))
        .and_then(|()| stream.try_clone());
    let reader = hello.map_err(|error| at(options, &error.to_string()))?;
    // Not a byte more than the line is taken from the stream, which the listener reads on.
    match receive(&mut BufReader::with_capacity(1, reader)) {
        Some(Line::Welcome) => Ok(stream),
        Some(Line::Failed { reason, .. }) => Err(other_rank(&reason)),
        _ => Err(at(options, "not all came, or what answers there is no process of this run")),
    }
}
