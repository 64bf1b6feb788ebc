//! A state in parts, as the ranks of several processes save it together: of each rank a safetensors file with what it is the first to
//! hold of each buffer, and an index that says how the parts lie. The index is written last and in one step, so that a state is there
//! as a whole or not at all; what reads it gets the tensors of the model, whatever the layout was.

mod index;
mod read;
#[cfg(feature = "files")]
mod write;

pub use index::{PartsIndex, index_path};
pub use read::holder;
pub(crate) use read::read;
#[cfg(feature = "files")]
pub use write::{commit, next_series, remove, write_part};

#[cfg(test)]
mod tests;
