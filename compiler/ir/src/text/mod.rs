//! The text form of a module: it prints, parses back to the same module, and reads like the paper.
//!
//! ```text
//! halite.ir 1
//! module @mlp {phase = built}
//!
//! func @main(%x: f32[4,8] {batch}, %w: f32[16,8] {weight, init = normal(0.02)}) -> (y: f32[4,16] {probe}) {
//!   %0 = dot_general %x, %w {batch = [] x [], contract = [1] x [1], accumulate = f32} : f32[4,16]     // mlp.up
//!   %one = constant 1.0 : f32[4,16]
//!   %1 = add %0, %one : f32[4,16]
//!   return %1
//! }
//! ```
//!
//! Optional operands of composites have their names and stand last: `linear %x, %w, bias = %b`.
//!
//! Printing a parsed text that was printed gives the same text; parsing a printed module gives the same module, except
//! for locations, which become positions in the text. A name in quotes may hold any character. Constants of more than 16
//! different elements stand in `resource` lines after the functions. Parsing accepts a text without the first two lines:
//! version 1, phase `built`.
//!
//! Each file holds one part of the form in both directions; nothing here knows a particular op.

mod attrs;
mod function;
mod inst;
mod layout;
mod lines;
mod literal;
mod names;
mod numbers;
mod parse;
mod print;
mod quoted;
mod reader;
mod roles;
mod syntax;

pub use names::ValueNames;
pub use parse::parse;
pub use print::{PrintOptions, print, print_function, print_inst, print_with};

pub(crate) use print::function_lines;
pub(crate) use quoted::print_string;

/// The version in the first line of IR text.
pub const VERSION: u32 = 1;

/// Constants with more elements than this, unless all are equal, are printed as resources.
const MAX_INLINE_ELEMENTS: usize = 16;
