//! The command line of Halite.
fn main() {}
