//! The self-test on the stand-ins for compiler and library: green where nothing is wrong, and each defect named.

mod bench;
mod command;
mod defects;
