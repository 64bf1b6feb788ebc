//! The command line of Halite. Everything that it does is a function of the library; only this binary prints and exits.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
