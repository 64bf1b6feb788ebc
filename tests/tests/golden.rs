//! Runs the golden files below `golden/`.

use halite_tests::Harness;
use std::process::ExitCode;

fn main() -> ExitCode {
    Harness::new(concat!(env!("CARGO_MANIFEST_DIR"), "/golden")).main()
}
