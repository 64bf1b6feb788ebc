//! Processes of a run, as threads of one.

use super::*;
use crate::tests::own_address;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Barrier;

/// The first of two processes of a launch.
fn options() -> PeerOptions {
    let (address, secret) = (String::new(), "of this launch".to_owned());
    PeerOptions { rank: 0, world: 2, address, patience: Duration::from_secs(30), secret }
}

/// Joins so many at a free port, and has each do something.
fn together<T: Send>(world: usize, act: impl Fn(Peers) -> T + Sync) -> Vec<T> {
    let free = own_address().to_string();
    let join = |rank| {
        let options = PeerOptions { rank, world, address: free.clone(), ..options() };
        act(Peers::join(&options).unwrap())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..world).map(|rank| scope.spawn(move || join(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn all_hear_what_all_say() {
    let heard = together(3, |peers| {
        let first = peers.exchange("one", &peers.rank().to_string()).unwrap();
        assert_eq!(peers.exchange("two", "x").unwrap(), ["x", "x", "x"]);
        peers.end().unwrap();
        first
    });
    assert_eq!(heard, vec![vec!["0", "1", "2"]; 3]);
}

#[test]
fn one_that_is_gone_or_fails_or_is_elsewhere_is_named() {
    let gone = together(3, |peers| match peers.rank() {
        1 => String::new(),
        _ => peers.exchange("one", "").unwrap_err().message().to_owned(),
    });
    assert_eq!(gone, ["rank 1 is gone", "", "rank 1 is gone"]);
    for failing in [0, 2] {
        let all_have_heard = Barrier::new(3);
        let failed = together(3, |peers| {
            if peers.rank() == failing {
                peers.fail(&Diagnostic::error(codes::FILE, "the disk is full").into());
                all_have_heard.wait();
                return String::new();
            }
            let heard = peers.exchange("one", "");
            all_have_heard.wait();
            let error = heard.unwrap_err();
            assert_eq!(peers.give_up().reason(), Some(error.message()));
            error.message().to_owned()
        });
        let expected = |rank: usize| {
            if rank == failing { String::new() } else { format!("rank {failing} failed: the disk is full") }
        };
        assert_eq!(failed, [0, 1, 2].map(expected));
    }
    let both_have_heard = Barrier::new(2);
    let apart = together(2, |peers| {
        let heard = peers.exchange(["here", "there"][peers.rank()], "");
        both_have_heard.wait();
        heard.unwrap_err().message().to_owned()
    });
    assert_eq!(apart, vec!["rank 1 is at there, rank 0 at here"; 2]);
}

/// A connection to a process that is about to listen.
fn reach(address: SocketAddr) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(address) {
            return stream;
        }
    }
}

/// First lines of strangers: another protocol, a wrong secret, a rank and a world that do not exist, another version, half a line,
/// nothing.
const STRANGERS: [&str; 9] = [
    "GET / HTTP/1.1\n",
    "{\"hello\":{\"version\":3,\"rank\":1,\"world\":3,\"secret\":\"of another launch\"}}\n",
    "{\"hello\":{\"version\":3,\"rank\":1,\"world\":99,\"secret\":\"\"}}\n",
    "{\"hello\":{\"version\":3,\"rank\":77,\"world\":3}}\n",
    "{\"hello\":{\"version\":2,\"rank\":1,\"world\":3}}\n",
    "\"welcome\"\n",
    "{\"say\":{\"point\":\"one\",\"said\":\"x\"}}\n",
    "{\"hello\":{\"version\":3,\"ra",
    "",
];

#[test]
fn strangers_are_passed_over_and_the_run_goes_on() {
    let free = own_address();
    let join = |rank| Peers::join(&PeerOptions { rank, world: 3, address: free.to_string(), ..options() });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| join(0));
        // More than are heard at a time; some say nothing, one has no end.
        let mut strangers: Vec<TcpStream> = Vec::new();
        for number in 0..100 {
            let mut stranger = reach(free);
            stranger.write_all(STRANGERS[number % STRANGERS.len()].as_bytes()).unwrap();
            strangers.push(stranger);
        }
        let mut endless = reach(free);
        let flood = scope.spawn(move || while endless.write_all(&[b'x'; 1 << 16]).is_ok() {});
        let others = [1, 2].map(|rank| scope.spawn(move || join(rank)));
        let peers: Vec<Peers> = [first].into_iter().chain(others).map(|rank| rank.join().unwrap().unwrap()).collect();
        assert!(peers[0].passed_over().iter().any(|told| told.contains("of another launch or with another bundle")));
        // All stay until each has heard the others: who goes earlier is missed.
        std::thread::scope(|scope| {
            let said = peers.iter().map(|peers| scope.spawn(|| peers.exchange("one", "here").unwrap()));
            for said in said.collect::<Vec<_>>() {
                assert_eq!(said.join().unwrap(), vec!["here"; 3]);
            }
        });
        drop(peers);
        flood.join().unwrap();
    });
}

#[test]
fn misfits_of_a_launch_are_told() {
    let free = own_address();
    let options = |rank, world| PeerOptions { rank, world, address: free.to_string(), ..options() };
    let join = |rank, world| Peers::join(&options(rank, world)).map(drop).map_err(|error| error.message().to_owned());
    std::thread::scope(|scope| {
        let first = scope.spawn(|| join(0, 2));
        let expected = Err("rank 1 is one of 3, rank 0 one of 2".to_owned());
        assert_eq!(join(1, 3), expected);
        assert_eq!(first.join().unwrap(), expected);
    });
    let alone = PeerOptions { patience: Duration::from_millis(200), ..options(0, 3) };
    let late = Peers::join(&alone).map(drop).unwrap_err();
    assert!(late.message().ends_with("ranks 1, 2 did not come"), "{late}");
    assert!(join(2, 2).unwrap_err().contains("there is no rank 2 of 2"));
}

/// One that was started before, for another launch, and waits for its leader.
#[test]
fn a_rank_of_another_launch_is_turned_away() {
    let free = own_address();
    let join = |rank, secret: &str| {
        Peers::join(&PeerOptions { rank, address: free.to_string(), secret: secret.to_owned(), ..options() })
    };
    std::thread::scope(|scope| {
        let forgotten = scope.spawn(|| join(1, "of a launch before"));
        let first = scope.spawn(|| join(0, "of this launch"));
        let told = forgotten.join().unwrap().map(drop).unwrap_err();
        assert_eq!(told.message(), "it is of another launch than rank 0, or has another bundle");
        join(1, "of this launch").unwrap();
        first.join().unwrap().unwrap();
    });
}
