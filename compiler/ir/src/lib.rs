//! The typed IR of a training step.
//!
//! A [`Module`] holds [`Function`]s; a function is an ordered list of [`Inst`]ructions, each an [`Op`] applied to earlier
//! [`Value`]s; every value has a static [`TensorType`]. Nothing is mutated, nothing is implicit. What the compiler knows
//! about an op stands in one file under `ops/` (primitives) or `composites/` (named decompositions). The meaning of a
//! module is what the [`Interpreter`] computes.

mod alike;
pub mod attr;
mod attrs;
mod build;
mod composite;
pub mod composites;
mod cost;
mod described;
mod dim_names;
pub mod dims;
mod domain;
mod edge;
mod effect;
mod fingerprint;
pub mod graph;
mod infer;
mod inline;
mod interpret;
mod laid;
mod layer;
mod layout;
pub mod loc;
mod lower;
mod merge;
mod named_params;
pub mod op;
mod op_name;
mod operands;
pub mod ops;
pub mod paths;
mod philox;
mod policy;
mod reduction;
mod registry;
mod renumber;
mod rewrite;
mod rounding;
mod sample;
mod shards;
mod size;
mod stage_task;
mod syntax;
pub mod text;
mod traffic;
mod ty;
mod verify;
mod wire;

pub use alike::are_alike;
pub use attr::{Attr, Real};
pub use attrs::{AttrKey, AttrSpec, AttrValue, Attrs, Cast};
pub use build::{Builder, Draft, present};
pub use composite::{Composite, CompositeDef, VjpRule, VjpRuleCx};
pub use cost::{function_flops, function_totals, inst_cost};
pub use described::Described;
pub use dim_names::{DimName, SizeFactor, product_of};
pub use domain::Domain;
pub use edge::{Edge, Origin, Trace};
pub use effect::Effect;
pub use fingerprint::fingerprint;
#[doc(hidden)]
pub use halite_support::doc;
pub use infer::InferCx;
pub use inline::{inline_calls, inline_into_entry};
pub use interpret::{EvalCx, Interpreter};
pub use layer::Layer;
pub use layout::Layout;
pub use loc::{Derivation, LocId, LocKind, LocTable, StepPart};
pub use lower::{Ids, Indexing, KernelForm, LowerCx, LowerOptions, Products, aliases, lower, lower_decompositions};
pub use named_params::NamedParams;
pub use op::{Cost, OpDef, Policy, Sample, SampleArg, SampleValues, Vjp, VjpCx};
pub use op_name::OpName;
pub use operands::{Args, Operands};
pub use ops::Op;
pub use policy::{Follows, OpClass, loses};
pub use registry::{MODEL_WORDS, Registry};
pub use rewrite::{Rewriter, rewrite_functions, rewrite_planned};
pub use rounding::{Widened, engine, narrows, set_accumulate, widened};
pub use sample::{sample_inputs, sample_module};
pub use shards::{Linear, Shards, local_stride};
pub use stage_task::StageTask;
pub use syntax::*;
pub use traffic::{function_wire_bytes, wire};
pub use ty::{TensorType, Types};
pub use verify::{PhaseRule, Seal, Verified, VerifyErrors, broken_rules, verify};
pub use wire::Wire;
