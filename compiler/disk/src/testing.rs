//! What tests of whatever writes files share.

use crate::{Call, Disk, Fate};
use std::sync::{Arc, Mutex};

/// Checks that what `write` does is on the device in the end: content before it gets its name, names thereafter.
///
/// # Panics
/// When it is not.
pub fn assert_durable(write: impl FnOnce(&Disk)) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = calls.clone();
    write(&Disk::planned(move |_, call| {
        log.lock().expect("there is one").push(call);
        Fate::Done
    }));
    let calls = calls.lock().expect("there is one");
    let last = |wanted: &[Call]| calls.iter().rposition(|call| wanted.contains(call)).expect("there is one");
    assert!(last(&[Call::SyncFolder]) > last(&[Call::Rename, Call::Exchange, Call::Create]), "{calls:?}");
    let (mut written, mut synced) = (0, 0);
    for call in calls.iter() {
        match call {
            Call::Write => written += 1,
            Call::Sync => synced += 1,
            Call::Rename | Call::Exchange => assert_eq!(written, synced, "{calls:?}"),
            _ => {}
        }
    }
    assert!(written > 0);
}
