//! Schedules, by themselves.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod faults;
mod laws;
mod lists;
mod states;
