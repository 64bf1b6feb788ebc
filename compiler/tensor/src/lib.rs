//! Element types, static shapes, host tensors, exact rounding, tolerant comparison and the coefficients of `erfc`.
//!
//! A [`HostTensor`] is a dense row-major array of one [`DType`]. Arithmetic on it is the business of the reference
//! interpreter: this crate reads elements as `f64` or `i128`, which hold every supported element exactly, and writes
//! them back with one rounding (floats, to nearest even) or by wrapping (integers).

mod causal_mask;
pub mod compare;
mod content;
mod dtype;
pub mod element_type;
pub mod erfc;
mod groups;
mod host;
mod indices;
mod init;
mod int_range;
pub mod listed;
mod mesh;
mod packing;
pub mod rounding;
mod shape;
mod sharding;
mod split_mix;
mod state;
mod stream_keys;

pub use causal_mask::causal_mask;
pub use content::Content;
pub use dtype::DType;
pub use groups::{Groups, group_steps};
pub use host::{HostTensor, SizeMismatch};
pub use indices::Indices;
pub use init::{Init, TRUNCATED_AT, matrix};
pub use int_range::IntRange;
pub use mesh::{Axis, Mesh, SubAxis, SubAxisId};
pub use packing::{Packing, Part};
pub use shape::{Dims, Shape};
pub use sharding::{DimShard, DimShards, Sharding};
pub use split_mix::split_mix;
pub use state::{ATTEMPTS, STEP, StateSpec};
pub use stream_keys::StreamKeys;
