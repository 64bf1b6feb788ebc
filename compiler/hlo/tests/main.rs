//! Tests of building, checking, reading and printing HLO.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod builder;
mod check;
mod codec;
mod common;
mod graph;
mod link;
mod reading;
mod text;
mod tokens;
