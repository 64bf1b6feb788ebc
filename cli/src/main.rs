//! The program `halite`. Everything that it does is a function of a library; only this binary prints and exits.

use std::process::ExitCode;

/// A compile allots millions of small nodes, and the allocator of the C library takes longer for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    halite_cli::main(halite::Session::new())
}
