//! Draws random mutants of production code, and plants them all in one copy of the sources, each behind a switch.
//!
//! See `README.md` for how the mutants are then measured.

mod draw;
mod files;
mod mutant;
mod plant;
mod sites;
mod values;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: halite-mutants draw TREE SEED COUNT LIST | plant TREE LIST PLACES";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["draw", tree, seed, count, list] => match (seed.parse(), count.parse()) {
            (Ok(seed), Ok(count)) => draw::draw(Path::new(tree), seed, count, Path::new(list)),
            _ => Err(USAGE.into()),
        },
        ["plant", tree, list, places] => plant::plant(Path::new(tree), Path::new(list), Path::new(places)),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
