//! Addresses at which processes of a test meet.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU8, Ordering};

/// A free port of a loopback address that no other test has, so that none takes the port before it is listened at, and that
/// nobody connects from, so that nobody who looks for it finds itself.
pub(crate) fn own_address() -> SocketAddr {
    static COUNT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = [127, COUNT.fetch_add(1, Ordering::Relaxed), high, low];
    let free = TcpListener::bind((std::net::IpAddr::from(own), 0)).unwrap();
    free.local_addr().unwrap()
}
