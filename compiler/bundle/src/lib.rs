//! Bundles: the output of compiling and the input of everything else.
//!
//! - [`Bundle`] is a folder with a [`Manifest`] and the files that it names, read without trusting it;
//! - [`tensors`] and [`shards`] are tensors in files; [`init`] makes the state that training starts from, which has the tensors of
//!   the model; [`parts`] is state that several processes save together;
//! - [`convert`] goes between these and the buffers that store them.
//!
//! [`ManifestRules`] checks the flags, environment and launch that follow from a recipe for a target; this crate knows no target. The
//! feature `files`, on by default, writes to disk and reads checkpoints in several files; without it a bundle is read from a folder or
//! made of values.

mod adopt;
mod arguments;
mod buffer;
mod bundle;
mod computed;
pub mod content;
pub mod convert;
pub mod estimate;
mod expected;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod form;
mod in_range;
pub mod init;
mod manifest;
mod micro_batches;
mod neff;
mod packed;
pub mod parts;
mod random;
mod role;
mod rules;
mod schedule;
mod sharded;
#[cfg(feature = "files")]
pub mod shards;
mod state;
mod tensor_file;
pub mod tensors;
pub mod work;

pub use adopt::adopt;
pub use arguments::arguments;
pub use buffer::{Buffer, BufferRole};
pub use bundle::{
    Bundle, DECOMPOSITIONS, MANIFEST, MODEL_DUMPS, NEFFS, check_ports, contradiction, link_decompositions, sha256,
    sound_hlo,
};
pub use computed::{Computed, MapOp, Step};
pub use expected::{Expected, check_tensors};
pub use in_range::check_ranges;
pub use manifest::{
    Decomposition, IndexRange, Launch, MANIFEST_VERSION, Manifest, ModelInfo, ModuleEntry, Port, PortRole,
    RoundingChoice, Statistics,
};
pub use micro_batches::micro_batches;
pub use neff::NeffRecord;
pub use packed::{model_elements, part_names};
pub use random::Stream;
pub use role::ModuleRole;
pub use rules::ManifestRules;
pub use schedule::{Action, NoAction, Transfer};
pub use sharded::check_shardings;
pub use state::check_state;
