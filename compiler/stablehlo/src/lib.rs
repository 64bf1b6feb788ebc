//! HLO modules as StableHLO, the same program as text of MLIR, and texts of StableHLO as HLO modules.
//!
//! [`read()`] reads texts of anybody: the short forms that JAX and the StableHLO project print, and MLIR's generic form, with regions,
//! functions, locations, resources and shardings. What Halite has no HLO for is refused by its name and line.
//!
//! [`print()`] writes what Halite's builder makes. The text is that of the generic form of MLIR, `"stablehlo.add"(%x, %y) : ..`, which
//! depends on nothing but names and types of attributes: the short forms of operations have parsers of their own, and change with
//! versions. What operations and attributes are called is said by the [specification](https://openxla.org/stablehlo/spec).
//!
//! Differences from the HLO, which are gone too when what is written is read:
//!
//! - Tuples are gone: functions and operations have several results. What a frontend attribute says of the entry's root is the
//!   `jax.result_info` of results.
//! - A `copy` is its operand; XLA gives results buffers of their own by itself.
//! - `erf` is `chlo.erf`, which XLA reads as its own `erf`.
//! - A `reduce-scatter` of several operands is one for each, which StableHLO's takes.
//! - Aliases are `tf.aliasing_output` on arguments, as JAX writes them, and say of no result that it *must* take the buffer.
//!
//! A text is a program of its own, or functions for the program of another ([`Form`]).

mod channels;
mod fault;
mod form;
mod function;
mod literal;
mod location;
mod module;
mod number;
mod op;
mod ops;
mod quoted;
mod read;
mod site;
mod symbols;
mod types;
mod write;

pub use form::{Form, Functions};
pub use module::{print, translate};
pub use read::{is_bytecode, read};
