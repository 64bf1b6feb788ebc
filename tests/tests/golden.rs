//! Runs the golden files below `golden/`.

use halite::Session;
use halite_tests::Kit;
use std::process::ExitCode;

fn main() -> ExitCode {
    Kit::new(Session::new(), concat!(env!("CARGO_MANIFEST_DIR"), "/golden")).bless_command("cargo bless").run()
}
