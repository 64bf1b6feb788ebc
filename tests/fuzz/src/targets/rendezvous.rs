//! The rendezvous of the processes of a run: the lines that they send, and a leader that gets them from anyone at its port.

use crate::judge::Verdict;
use crate::target::{TEXT, Target};
use halite_tests::ports::own_port;
use halite_train::{Line, PeerOptions, Peers};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) const TARGET: Target = Target {
    name: "rendezvous",
    share: 30,
    seeds,
    prepare: |_| {
        let leader = Leader::start();
        Box::new(move |input| run(input, &leader))
    },
    ..TEXT
};

/// One input of about so many is said to a leader as well, which takes a third of a second.
const LIVE: u32 = 512;

/// The most bytes of a line.
const MOST: u64 = 1 << 16;

/// The time that a leader may take to answer or to close.
const PATIENCE: Duration = Duration::from_secs(20);

const SECRET: &str = "of this launch";

fn seeds() -> Vec<Vec<u8>> {
    let hello = |version: u32, rank: usize, world: usize, secret: &str| {
        format!(r#"{{"hello":{{"version":{version},"rank":{rank},"world":{world},"secret":"{secret}"}}}}"#)
    };
    let (say, all) = (r#"{"say":{"point":"one","said":"x"}}"#, r#"{"all":{"point":"one","said":["x","y"]}}"#);
    let failed = r#"{"failed":{"reason":"rank 1 failed: the disk is full","passes":false}}"#;
    let texts = [
        hello(3, 1, 2, SECRET) + "\n",
        hello(3, 1, 2, SECRET) + "\n" + say + "\n" + r#"{"say":{"point":"the end","said":""}}"# + "\n",
        hello(3, 1, 2, SECRET) + "\n" + failed + "\n",
        hello(3, 0, 2, SECRET) + "\n" + all + "\n",
        hello(3, 1, 3, SECRET) + "\n",
        hello(3, 1, 2, "of another launch") + "\n",
        hello(2, 1, 2, "") + "\n\"welcome\"\n",
        format!("{say}\n{all}\n{failed}\n\"welcome\"\n"),
        "GET / HTTP/1.1\n\n".to_owned(),
    ];
    texts.into_iter().map(String::into_bytes).collect()
}

/// The first of two ranks of a run, which begins anew whenever its run ends.
struct Leader {
    address: String,
    thread: JoinHandle<()>,
}

impl Leader {
    fn start() -> Self {
        let address = format!("127.0.0.1:{}", own_port());
        let (patience, secret) = (Duration::from_secs(3600), SECRET.to_owned());
        let options = PeerOptions { rank: 0, world: 2, address: address.clone(), patience, secret };
        let lead = move || {
            loop {
                // Whoever comes in may say anything: what comes of it is the next run's to find out.
                let met = Peers::join(&options);
                _ = met.and_then(|peers| peers.exchange("one", "x").and_then(|_| peers.end()));
            }
        };
        Self { address, thread: std::thread::spawn(lead) }
    }

    /// Says something, and waits until the leader closes.
    fn hear(&self, said: &[u8]) -> Result<(), String> {
        let mut stream = self.reach()?;
        // One that hears no more has closed.
        _ = stream.write_all(said).and_then(|()| stream.shutdown(Shutdown::Write));
        let set = stream.set_read_timeout(Some(PATIENCE));
        set.map_err(|error| format!("no time limit: {error}"))?;
        match stream.take(MOST).read_to_end(&mut Vec::new()) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err("the leader neither answers nor closes".to_owned())
            }
            _ if self.thread.is_finished() => Err("the leader ended".to_owned()),
            _ => Ok(()),
        }
    }

    /// Connects; between two runs nobody listens.
    fn reach(&self) -> Result<TcpStream, String> {
        let until = Instant::now() + PATIENCE;
        loop {
            match TcpStream::connect(&self.address) {
                Ok(stream) => return Ok(stream),
                Err(error) if Instant::now() >= until => return Err(format!("the leader does not listen: {error}")),
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

fn run(input: &[u8], leader: &Leader) -> Verdict {
    let (mut rest, mut lines) = (input, 0);
    while let Some(line) = Line::receive(&mut rest, MOST) {
        let mut written = Vec::new();
        line.send(&mut written).map_err(|error| format!("a line is not written: {error}"))?;
        if Line::receive(&mut written.as_slice(), u64::MAX) != Some(line) {
            return Err("another line is read than was written".to_owned());
        }
        lines += 1;
    }
    // Their bytes decide, so that an input is always tried in the same way.
    if input.iter().map(|&byte| u32::from(byte)).sum::<u32>() % LIVE == 1 {
        leader.hear(input)?;
    }
    Ok(lines > 0)
}
