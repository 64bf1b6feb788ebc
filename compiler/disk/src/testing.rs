//! Helpers of tests of code that writes files.

use crate::{Disk, Fate, Operation};
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
    let last = |wanted: &[Operation]| calls.iter().rposition(|call| wanted.contains(call)).expect("there is one");
    assert!(
        last(&[Operation::SyncFolder]) > last(&[Operation::Rename, Operation::Exchange, Operation::Create]),
        "{calls:?}"
    );
    let (mut written, mut synced) = (0, 0);
    for call in calls.iter() {
        match call {
            Operation::Write => written += 1,
            Operation::Sync => synced += 1,
            Operation::Rename | Operation::Exchange => assert_eq!(written, synced, "{calls:?}"),
            _ => {}
        }
    }
    assert!(written > 0);
}
