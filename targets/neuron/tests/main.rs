//! Estimates of modules, and answers on hostile ones.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod estimate;
mod hostile;
