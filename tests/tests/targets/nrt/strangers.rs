//! Strangers that connect to the port of a run of four processes, and processes of the run that do not connect.

use crate::nrt::bench::{Bench, Ended, bytes, compiled, run};
use crate::nrt::ranks::{ALLOWED, INDEX, UPDATES, four};
use halite_tests::standin_nrt;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

/// The number of strangers.
const STRANGERS: usize = 40;

/// The most memory of rank 0 while they are there, in KiB.
const MOST_KIB: u64 = 300 << 10;

/// Runs a launch whose port a listener has taken; returns how it ended and what its ranks sent.
fn said_of_a_launch_before(bench: &Bench) -> (Ended, Vec<String>) {
    let mut command = bench.launch(&[&["--", "-o", "before"], &UPDATES[..]].concat());
    let taken = TcpListener::bind(meeting(&command)).unwrap();
    taken.set_nonblocking(true).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let hear = scope.spawn(|| {
            let mut said = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let Ok((mut stream, _)) = taken.accept() else {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                };
                let mut hello = [0; 4096];
                stream.set_nonblocking(false).unwrap();
                let read = stream.read(&mut hello).unwrap_or(0);
                said.push(String::from_utf8_lossy(&hello[..read]).into_owned());
            }
            said
        });
        let ended = {
            let _at_last = AtLast(&is_over);
            run(&mut command)
        };
        (ended, hear.join().unwrap())
    })
}

/// The address where the processes of a launch meet: the port after that of its root.
fn meeting(launch: &Command) -> (&'static str, u16) {
    let root = launch.get_args().filter_map(|argument| argument.to_str()?.strip_prefix("127.0.0.1:")).next().unwrap();
    ("127.0.0.1", root.parse::<u16>().unwrap() + 1)
}

/// A launch whose rank 3 begins when there is a file `go`, and whose rank 0 tells its number as a process.
fn waiting_launch(bench: &Bench) -> Command {
    let program = r#"
        [ "$RANK" != 0 ] || echo $$ > process
        while [ "$RANK" = 3 ] && [ ! -e go ]; do sleep 0.02; done
        exec halite train bundle --executor nrt "$@""#;
    let words = ["--", "bash", "-c", program, "of-all", "-o", "run"];
    bench.launch(&[&words[..], &UPDATES].concat())
}

/// The most memory that a process had, in KiB.
fn peak(process: &Path) -> Option<u64> {
    let number = std::fs::read_to_string(process).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", number.trim())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// One of a kind comes, and stays where its kind does.
fn come<'s>(
    scope: &'s Scope<'s, '_>,
    kind: usize,
    replays: &'s [String],
    at: (&'static str, u16),
    is_over: &'s AtomicBool,
) {
    let mut stream = loop {
        match TcpStream::connect(at) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let hello = |rest: &str| format!("{{\"hello\":{{\"version\":3,\"rank\":1,{rest}}}}}\n");
    let line = match kind {
        0 => "GET / HTTP/1.1\n\n".to_owned(),
        1 => hello("\"world\":4,\"secret\":\"of another launch\""),
        2 => hello("\"world\":99"),
        3 => hello("\"world\":4,\"secret\":\"\"").replace("\"version\":3", "\"version\":2"),
        4 => replays[0].clone(),
        5 => "{\"say\":{\"point\":\"one\",\"said\":\"x\"}}\n".to_owned(),
        6 => "{\"hello\":{\"version\":3,\"ra".to_owned(),
        _ => String::new(),
    };
    // Some are gone already when they are answered.
    _ = stream.write_all(line.as_bytes());
    scope.spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            match kind {
                // A byte now and then, which is never a line.
                8 => drop(stream.write_all(b"x")),
                9 => drop(stream.write_all(&[b'x'; 1 << 16])),
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(if kind == 9 { 0 } else { 50 }));
        }
    });
}

/// Sends strangers away when a test ends, however it ends.
struct AtLast<'a>(&'a AtomicBool);

impl Drop for AtLast<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn forty_strangers_change_nothing() {
    let bench = Bench::of(four());
    let (taken, replays) = said_of_a_launch_before(&bench);
    taken.with(2, &["error[E0721]: rank 0 of 4 does not meet the others", "choose another root address"]);
    assert!(!bench.at("before").exists());
    assert!(replays.iter().any(|said| said.contains("\"hello\"")), "{replays:?}");

    let launch = waiting_launch(&bench);
    let (at, is_over) = (meeting(&launch), AtomicBool::new(false));
    let replays: Vec<String> = replays.into_iter().filter(|said| said.contains("\"hello\"")).collect();
    let launch = start(launch);
    std::thread::scope(|scope| {
        let _at_last = AtLast(&is_over);
        for number in 0..STRANGERS {
            come(scope, number % 10, &replays, at, &is_over);
        }
        // They were all there for a while, and those that flood went on.
        std::thread::sleep(Duration::from_secs(1));
        let most = peak(&bench.at("process"));
        std::fs::write(bench.at("go"), "").unwrap();
        let ended = launch.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{errors}");
        assert!(most.is_some_and(|most| most < MOST_KIB), "{most:?} KiB");
    });
    run(bench.halite(&["train", "bundle", "-o", "whole"]).args(UPDATES)).with(0, &[]);
    assert!(bytes(&bench, "run", "metrics.jsonl") == bytes(&bench, "whole", "metrics.jsonl"));
}

/// Goes on from a state with these commands in the place of what one rank does, or before it, and these options of all ranks.
fn goes_on(bench: &Bench, rank: &str, before: &str, limit: &str) -> Ended {
    let program = format!(
        r#"
        if [ "$RANK" = {rank} ]; then {before}; fi
        exec halite train bundle {limit} "$@""#
    );
    let state = format!("run/state.{INDEX}");
    let words = ["--", "bash", "-c", &program, "of-all", "--resume", &state, "-o", "run", "--executor", "nrt"];
    let options = ["--text", "text.txt", "--steps", "12", "--held-out", "0", "--quiet"];
    run(&mut bench.launch(&[&words[..], &options].concat()))
}

#[test]
fn a_rank_that_does_not_come_ends_the_others_with_75_and_a_bundle_that_differs_nothing() {
    let bench = Bench::of(four());
    run(&mut bench.launch(&[&["--", "-o", "run"], &UPDATES[..]].concat())).with(0, &[]);
    let state = || std::fs::read(bench.at("run").join(format!("state.{INDEX}"))).unwrap();
    let whole = state();
    for (rank, told) in [("3", "rank 3 did not come"), ("0", "does not meet the others")] {
        goes_on(&bench, rank, "exec sleep 1000", "--load-timeout 3s").with(75, &["error[E0721]", told]);
        assert!(state() == whole, "rank {rank}");
    }
    let other = compiled(&["parallel.data=2", "parallel.tensor=2", "parallel.zero=1", "train.seed=9", ALLOWED]);
    other.write(&bench.at("other")).unwrap();
    standin_nrt::compile(&other, &bench.at("other"));
    let other = r#"halite train other -o other-run "${@:5}" 2> other-said || echo $? > code"#;
    // All come: however long that takes.
    goes_on(&bench, "2", other, "").with(0, &[]);
    assert!(state() != whole && !bench.at("other-run").exists());
    assert_eq!(std::fs::read_to_string(bench.at("code")).unwrap(), "2\n");
    let said = std::fs::read_to_string(bench.at("other-said")).unwrap();
    assert!(said.contains("error[E0719]: it is of another launch than rank 0, or has another bundle"), "{said}");
}
