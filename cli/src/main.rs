//! The program `halite`. Everything that it does is a function of a library; only this binary prints and exits.

use std::process::ExitCode;

fn main() -> ExitCode {
    halite_cli::main(halite::Session::new())
}
