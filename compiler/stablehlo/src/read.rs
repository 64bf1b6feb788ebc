//! StableHLO as HLO modules.
//!
//! A text is read once from its begin to its end: each operation is an instruction as soon as its last word is read, and what is wrong
//! with it is kept while reading goes on behind it. Nothing recurses but what nests in the text, which may be so deep and no deeper.

mod attribute;
mod attributes;
mod body;

mod dense;
mod emit;
mod fields;
mod finish;
mod function;
mod locate;
mod location;
mod module;
mod op;
mod operation;
mod ops;
mod pretty;
mod program;
mod reader;
mod signature;
mod string;
mod types;

pub use module::{is_bytecode, read};
