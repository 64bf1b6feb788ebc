//! Bytes and messages.

use halite_hlo::graph::Graph;
use halite_hlo::{check, decode, encode, text};
use proptest::prelude::*;

#[test]
fn modules_survive_their_bytes() {
    let module = crate::common::every_opcode().unwrap();
    let bytes = encode(&module);
    // Not the messages are compared but their bytes and text: a NaN differs from itself.
    let decoded = decode(&bytes).unwrap();
    assert!(encode(&decoded) == bytes);
    assert!(text::print(&decoded) == text::print(&module));
    assert!(encode(&crate::common::every_opcode().unwrap()) == bytes, "equal calls give equal bytes");
}

#[test]
fn garbage_is_a_diagnostic() {
    assert!(decode(b"HloModule m").unwrap_err().message().starts_with("the bytes are no HLO module"));
    assert!(decode(b"").unwrap_err().message().ends_with("it has no computation"));
}

/// Whatever can be decoded can be checked and printed.
fn digest(bytes: &[u8]) {
    if let Ok(module) = decode(bytes) {
        text::print(&module);
        check(&Graph::new(module));
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        digest(&bytes);
    }

    #[test]
    fn damaged_modules_never_panic(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = encode(&crate::common::every_opcode().unwrap());
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        digest(&bytes);
    }
}
