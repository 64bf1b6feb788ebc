//! Result types of every opcode of our set, from operand types and attributes.
//!
//! These are XLA's rules, narrowed where XLA is lenient in ways we never use (implicit scalar broadcasts, mixed element
//! types). The builder and the checker call the same functions, so what the builder makes, the checker accepts.

mod collective;
mod contraction;
mod convolution;
mod elementwise;
mod indexing;
mod movement;
mod windows;

pub use collective::{all_gather, all_reduce, all_to_all, collective_permute, reduce_scatter};
pub use contraction::{dot, reduce};
pub use convolution::convolution;
pub use elementwise::{binary, bitcast_convert, clamp, compare, convert, select, unary};
pub use indexing::{dynamic_slice, dynamic_update_slice, gather, scatter};
pub use movement::{broadcast, concatenate, iota, pad, reshape, reverse, slice, transpose};
pub use windows::{reduce_window, select_and_scatter};

use crate::opcode::{ReduceKind, RngAlgorithm};
use crate::takes::Takes;
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;
use std::fmt::Display;

/// Element `index` of a tuple.
pub fn get_tuple_element(tuple: &Type, index: usize) -> Result<&Type> {
    let Type::Tuple(items) = tuple else {
        return Err(Diagnostic::error(codes::DTYPE, format!("a tuple is needed, found `{tuple}`")));
    };
    items.get(index).ok_or_else(|| attribute_error(format!("`{tuple}` has no element {index}")))
}

/// `rng-bit-generator`: new state and random bits. States are `u64[2]`, for Philox and the default also `u64[3]`; bits
/// are unsigned integers.
pub fn rng_bit_generator(algorithm: RngAlgorithm, state: &ArrayType, bits: &ArrayType) -> Result<Type> {
    let longest = if algorithm == RngAlgorithm::ThreeFry { 2 } else { 3 };
    let fits = state.dtype == DType::U64 && state.rank() == 1 && (2..=longest).contains(&state.shape[0]);
    if !fits {
        return Err(shape_error(format!("{} takes a state of type `u64[2]`, found `{state}`", algorithm.name())));
    }
    require_dtype("random bits", bits, DType::is_unsigned_int, "unsigned integer")?;
    Ok(Type::Tuple(vec![Type::Array(state.clone()), Type::Array(bits.clone())]))
}

/// Whether `kind` takes elements of this type: sums, products and extremes take numbers, the others integers and `pred`.
pub fn reduce_kind(kind: ReduceKind, dtype: DType) -> Result<()> {
    binary(kind.op(), &ArrayType::scalar(dtype), &ArrayType::scalar(dtype)).map(|_| ())
}

fn shape_error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::SHAPE, message)
}

fn attribute_error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::ATTRIBUTE, message)
}

fn require_dtype(who: impl Display, x: &ArrayType, takes: impl Fn(DType) -> bool, kinds: &str) -> Result<()> {
    if takes(x.dtype) {
        return Ok(());
    }
    Err(Diagnostic::error(codes::DTYPE, format!("{who} takes {kinds} elements, found `{x}`")))
}

fn require_taken(who: impl Display, x: &ArrayType, takes: Takes) -> Result<()> {
    require_dtype(who, x, |dtype| takes.fits(dtype), takes.kinds())
}

fn require_same_dtype(who: impl Display, x: &ArrayType, y: &ArrayType) -> Result<()> {
    if x.dtype == y.dtype {
        return Ok(());
    }
    Err(Diagnostic::error(codes::DTYPE, format!("{who} takes one element type, found `{x}` and `{y}`")))
}

fn require_same_type(who: impl Display, x: &ArrayType, y: &ArrayType) -> Result<()> {
    require_same_dtype(&who, x, y)?;
    if x.shape == y.shape {
        return Ok(());
    }
    Err(shape_error(format!("{who} takes operands of one shape, found `{x}` and `{y}`")))
}

fn require_scalar(who: impl Display, x: &ArrayType) -> Result<()> {
    if x.rank() == 0 {
        return Ok(());
    }
    Err(shape_error(format!("{who} must be a scalar, found `{x}`")))
}

/// Every dimension number is below `rank` and none occurs twice.
fn require_distinct(what: &str, dims: &[usize], rank: usize) -> Result<()> {
    for (position, dim) in dims.iter().enumerate() {
        if *dim >= rank {
            return Err(attribute_error(format!("{what} {dim} is out of range for rank {rank}")));
        }
        if dims[..position].contains(dim) {
            return Err(attribute_error(format!("{what} {dim} occurs twice")));
        }
    }
    Ok(())
}

/// Every dimension number is below `rank`, and they ascend.
fn require_ascending(what: &str, dims: &[usize], rank: usize) -> Result<()> {
    require_distinct(what, dims, rank)?;
    if dims.is_sorted() {
        return Ok(());
    }
    Err(attribute_error(format!("{what}s {dims:?} must ascend")))
}

fn require_count(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(attribute_error(format!("{expected} {what} needed, found {found}")))
}
