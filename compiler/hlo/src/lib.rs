//! HLO modules: a vocabulary of messages, made with shapes inferred, checked, printed and read.
//!
//! - [`proto`] holds the protobuf messages; [`encode`] and [`decode`] are their byte form.
//! - [`ModuleBuilder`] and [`ComputationBuilder`] make modules, [`infer`]ring the type of each instruction.
//! - [`graph`] reads a module as a graph; [`cost`] says what an instruction costs.
//! - [`check`] finds everything in a module that XLA would reject or abort on.
//! - [`text`] prints a module in XLA's syntax, and reads what is printed so.
//!
//! Modules made here follow one form: sub-computations first and the entry last, unique ids over the module from 0 in that
//! order, row-major layouts, a tuple as the entry's root, equal bytes for equal calls.

mod attributes;
pub mod builder;
mod canonical;
mod check;
mod checked;
mod codec;
pub mod cost;
mod frontend;
pub mod graph;
mod groups;
pub mod infer;
mod iota;
mod link;
mod literal;
mod opcode;
mod origin;
pub mod proto;
mod shape;
mod takes;
pub mod text;
pub mod types;
mod unknown;

pub use attributes::{ConvDims, DotDims, GatherDims, PadDim, ReplicaGroups, ScatterDims, SliceDim, WindowDim};
pub use builder::{
    CollectiveForm, ComputationBuilder, ComputationId, CustomCall, GroupField, Id, IndexFacts, ModuleBuilder,
    Signature, Streams, identifier,
};
pub use canonical::canonical;
pub use check::{check, check_each};
pub use checked::CheckedHlo;
pub use codec::{decode, encode};
pub use frontend::{COLLECTIVE_TYPE, HAS_TOKEN, INPUT_NAMES, OUTPUT_NAMES, STREAM};
pub use iota::iota;
pub use link::{DECOMPOSITION, is_custom_call, link_decompositions};
pub use opcode::{BinaryOp, Calls, Comparison, Opcode, ReduceKind, RngAlgorithm, Row, UnaryOp, Work};
pub use origin::{Origin, origin};
pub use takes::Takes;
pub use types::{ArrayType, Type};
