//! Ports at which processes of a test meet.

use std::net::TcpListener;
use std::sync::Mutex;

/// Below the ports that the system gives to whoever connects, so that nobody is there by chance, and nobody who looks for a port meets
/// itself.
const FIRST: u16 = 10_000;
const LAST: u16 = 32_000;

/// Ports of a group: those that are given, and one that is held as long as this process runs, so that no other gives the same.
const GROUP: u16 = 4;

/// A free port of `127.0.0.1`, the next one free too, that no other test has, in this process or another.
///
/// # Panics
/// When all are taken.
pub fn own_port() -> u16 {
    static HELD: Mutex<(u16, Vec<TcpListener>)> = Mutex::new((0, Vec::new()));
    let mut held = HELD.lock().expect("nobody panics with it but when all are taken");
    let groups = (LAST - FIRST) / GROUP;
    let start = u16::try_from(std::process::id() % u32::from(groups)).expect("it is below a u16");
    for _ in 0..groups {
        let port = FIRST + (start + held.0) % groups * GROUP;
        held.0 += 1;
        let [own, next, token] = [port, port + 1, port + GROUP - 1].map(|port| TcpListener::bind(("127.0.0.1", port)));
        if let (Ok(_), Ok(_), Ok(token)) = (own, next, token) {
            held.1.push(token);
            return port;
        }
    }
    panic!("no port from {FIRST} to {LAST} is free");
}
