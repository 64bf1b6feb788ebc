//! The program from outside: what its commands do, print and refuse, and what documents say of them.

#![allow(clippy::unwrap_used, reason = "this is test code")]

mod cli;
#[cfg(unix)]
mod cluster;
mod convert;
mod data;
mod determinism;
mod documents;
mod generate;
mod held_out;
mod kills;
#[cfg(unix)]
mod launch;
mod marks;
mod numerics;
mod own_models;
mod pages;
mod placement;
mod platforms;
mod program;
mod reference;
mod runs;
mod schedule;
mod signals;
mod stablehlo;
mod stages;
mod tampered;
mod terminal;
mod train;
