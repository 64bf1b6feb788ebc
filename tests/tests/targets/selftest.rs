//! The self-test on the stand-ins for compiler and library: green where nothing is wrong, and each defect named.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod bench;
mod command;
mod defects;
mod ranks;
