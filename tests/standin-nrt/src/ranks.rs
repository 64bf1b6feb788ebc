//! Communication of ranks in several processes. The first rank listens at the address by which they find one another; it gathers a
//! message of each and answers each. A process has one such meeting, from its first program of several ranks on.

use crate::orders;
use crate::state::hold;
use crate::statuses::{INVALID, RESOURCE, TIMEOUT};
use std::ffi::c_int;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The variable by which ranks find one another.
pub(crate) const ROOT: &str = "NEURON_RT_ROOT_COMM_ID";

/// The most bytes of what a rank says at once: more is no rank.
const MOST_BYTES: u64 = 1 << 32;

/// The interval at which something awaited is looked for.
const TICK: Duration = Duration::from_millis(5);

/// The answer to a rank that connects.
const TAKEN: u8 = b'+';

/// The ranks that met.
pub(crate) struct Ranks {
    rank: u32,
    count: u32,
    /// Of the first rank those of the others in order, of others that of the first.
    streams: Vec<TcpStream>,
    /// Programs that were loaded together.
    loaded: u64,
}

static RANKS: Mutex<Option<Ranks>> = Mutex::new(None);

/// The ranks of this process, for the length of a call; it meets them where it has not yet.
pub(crate) fn meet(rank: u32, count: u32) -> Result<Held, c_int> {
    hold(count > 1 && rank < count)?;
    let mut guard = RANKS.lock().unwrap_or_else(PoisonError::into_inner);
    match &*guard {
        Some(ranks) => hold((ranks.rank, ranks.count) == (rank, count))?,
        None => *guard = Some(Ranks::connect(rank, count)?),
    }
    Ok(Held(guard))
}

/// The ranks while a call has them.
pub(crate) struct Held(MutexGuard<'static, Option<Ranks>>);

impl Held {
    /// The number of a program among those that are loaded together, from 1.
    pub(crate) fn next(&mut self) -> u64 {
        let ranks = self.0.as_mut();
        ranks.map_or(0, |ranks| {
            ranks.loaded += 1;
            ranks.loaded
        })
    }

    /// Says something; the answer is that which the first rank decides on, given what each rank says.
    pub(crate) fn ask(
        &mut self,
        said: Vec<u8>,
        decide: impl FnOnce(&[Vec<u8>]) -> Vec<Vec<u8>>,
    ) -> Result<Vec<u8>, c_int> {
        let Some(Ranks { rank, streams, .. }) = self.0.as_mut() else { return Err(INVALID) };
        let deadline = Instant::now() + limit();
        if *rank > 0 {
            send(&mut streams[0], &said)?;
            return receive(&mut streams[0], deadline);
        }
        let mut all = vec![said];
        for stream in streams.iter_mut() {
            all.push(receive(stream, deadline)?);
        }
        let mut answers = decide(&all).into_iter();
        let own = answers.next().ok_or(INVALID)?;
        streams.iter_mut().zip(answers).try_for_each(|(stream, answer)| send(stream, &answer))?;
        Ok(own)
    }
}

/// The most time to wait for another rank.
fn limit() -> Duration {
    Duration::from_secs(orders::number("TIMEOUT", 60))
}

impl Ranks {
    fn connect(rank: u32, count: u32) -> Result<Self, c_int> {
        // The guide has it mandatory for programs with collectives.
        let address = std::env::var(ROOT).map_err(|_| INVALID)?;
        let address = address.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or(INVALID)?;
        let deadline = Instant::now() + limit();
        let streams = match rank {
            0 => listen(address, count, deadline)?,
            _ => vec![reach(address, (rank, count), deadline)?],
        };
        Ok(Self { rank, count, streams, loaded: 0 })
    }
}

/// The streams of all other ranks, in order.
fn listen(address: SocketAddr, count: u32, deadline: Instant) -> Result<Vec<TcpStream>, c_int> {
    let listener = TcpListener::bind(address).map_err(|_| RESOURCE)?;
    listener.set_nonblocking(true).map_err(|_| RESOURCE)?;
    let mut streams: Vec<Option<TcpStream>> = (1..count).map(|_| None).collect();
    while streams.iter().any(Option::is_none) {
        let stream = await_until(deadline, || match listener.accept() {
            Ok((stream, _)) => Some(stream),
            Err(_) => None,
        })?;
        if let Some((rank, stream)) = greet(stream, count)
            && let Some(place @ None) = streams.get_mut(rank as usize - 1)
        {
            *place = Some(stream);
        }
    }
    let mut streams: Vec<TcpStream> = streams.into_iter().flatten().collect();
    streams.iter_mut().try_for_each(|stream| send(stream, &[TAKEN]))?;
    Ok(streams)
}

/// The rank that connects, if it is one of so many; one of another number is told that it is not.
fn greet(mut stream: TcpStream, count: u32) -> Option<(u32, TcpStream)> {
    stream.set_nonblocking(false).ok()?;
    stream.set_nodelay(true).ok()?;
    let said = receive(&mut stream, Instant::now() + Duration::from_secs(5)).ok()?;
    let (rank, rest) = said.split_first_chunk::<4>()?;
    let (rank, theirs) = (u32::from_le_bytes(*rank), u32::from_le_bytes(rest.try_into().ok()?));
    if theirs != count || rank == 0 || rank >= count {
        // Who is refused may be gone.
        let _ = send(&mut stream, b"-");
        return None;
    }
    Some((rank, stream))
}

/// The stream of the first rank, which takes this one.
fn reach(address: SocketAddr, (rank, count): (u32, u32), deadline: Instant) -> Result<TcpStream, c_int> {
    let mut stream = await_until(deadline, || TcpStream::connect(address).ok())?;
    stream.set_nodelay(true).map_err(|_| RESOURCE)?;
    send(&mut stream, &[rank.to_le_bytes(), count.to_le_bytes()].concat())?;
    let answer = receive(&mut stream, deadline)?;
    hold(answer == [TAKEN])?;
    Ok(stream)
}

fn await_until<T>(deadline: Instant, mut look: impl FnMut() -> Option<T>) -> Result<T, c_int> {
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            return Err(TIMEOUT);
        }
        std::thread::sleep(TICK);
    }
}

/// Sends bytes, their number first. A rank that is gone is awaited until the limit, as it is where it says nothing.
fn send(stream: &mut TcpStream, bytes: &[u8]) -> Result<(), c_int> {
    let sent = stream.write_all(&(bytes.len() as u64).to_le_bytes()).and_then(|()| stream.write_all(bytes));
    sent.map_err(|_| {
        std::thread::sleep(limit());
        TIMEOUT
    })
}

/// The next message of the other end.
fn receive(stream: &mut TcpStream, deadline: Instant) -> Result<Vec<u8>, c_int> {
    let mut size = [0; 8];
    fill(stream, &mut size, deadline)?;
    let size = u64::from_le_bytes(size);
    hold(size <= MOST_BYTES)?;
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| INVALID)?];
    fill(stream, &mut bytes, deadline)?;
    Ok(bytes)
}

/// Fills a buffer with what the other end sends; nothing comes any more from one that is gone.
fn fill(stream: &mut TcpStream, mut buffer: &mut [u8], deadline: Instant) -> Result<(), c_int> {
    while !buffer.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(TIMEOUT);
        }
        stream.set_read_timeout(Some(left)).map_err(|_| RESOURCE)?;
        match stream.read(buffer) {
            Ok(0) => std::thread::sleep(left),
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => std::thread::sleep(left),
        }
    }
    Ok(())
}
