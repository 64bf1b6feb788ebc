//! StableHLO as it is written: of every opcode, and as functions for the program of another.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

#[path = "../../hlo/tests/common/mod.rs"]
mod common;
mod every_opcode;
mod functions;
mod reading;
mod written;
