//! Processes of a run, as threads of one.

use super::*;
use crate::tests::own_address;
use std::io::Write;
use std::sync::Barrier;

/// Joins so many at a free port, and has each do something.
fn together<T: Send>(world: usize, act: impl Fn(Peers) -> T + Sync) -> Vec<T> {
    let free = own_address().to_string();
    let join = |rank| {
        let options = PeerOptions { rank, world, address: free.clone(), patience: Duration::from_secs(30) };
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

#[test]
fn strangers_are_sent_away_and_misfits_told() {
    let free = own_address();
    let options =
        |rank, world| PeerOptions { rank, world, address: free.to_string(), patience: Duration::from_secs(30) };
    let join = |rank, world| Peers::join(&options(rank, world)).map(drop).map_err(|error| error.message().to_owned());
    std::thread::scope(|scope| {
        let first = scope.spawn(|| join(0, 2));
        let mut stranger = loop {
            if let Ok(stream) = TcpStream::connect(free) {
                break stream;
            }
        };
        stranger.write_all(b"GET / HTTP/1.1\n").unwrap();
        let expected = Err("rank 1 is one of 3, rank 0 one of 2".to_owned());
        assert_eq!(join(1, 3), expected);
        assert_eq!(first.join().unwrap(), expected);
    });
    let alone = PeerOptions { patience: Duration::from_millis(200), ..options(0, 3) };
    let late = Peers::join(&alone).map(drop).unwrap_err();
    assert!(late.message().ends_with("ranks 1, 2 did not come"), "{late}");
    assert!(join(2, 2).unwrap_err().contains("there is no rank 2 of 2"));
}
