//! The ways into Halite, one in each file.

pub(crate) mod arguments;
pub(crate) mod checkpoint;
pub(crate) mod config;
pub(crate) mod hlo;
pub(crate) mod hlo_text;
pub(crate) mod ir;
pub(crate) mod manifest;
pub(crate) mod mlir;
pub(crate) mod model;
pub(crate) mod parquet;
pub(crate) mod recipe;
pub(crate) mod render;
pub(crate) mod rendezvous;
pub(crate) mod safetensors;
pub(crate) mod shards;
pub(crate) mod stablehlo;
pub(crate) mod tokenizer;
pub(crate) mod xla;

use std::path::Path;

/// Writes a file in the folder of the target.
///
/// # Panics
/// When that cannot be done.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The same in a folder that is made.
fn put_below(path: &Path, bytes: &[u8]) {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    put(path, bytes);
}
