//! The tensors in a safetensors file, or in a checkpoint of several.

use crate::context::{Output, Result};
use crate::table::{bytes, counted, grouped, table};
use halite_bundle::shards;
use halite_ir::paths::family;
use halite_support::{Diagnostic, codes};
use halite_tensor::HostTensor;
use indexmap::IndexMap;
use serde_json::json;
use std::path::Path;

/// Whether a path names such a file, or the index of several.
pub(super) fn are_at(input: &str) -> bool {
    input.ends_with(".safetensors") || input.ends_with(".safetensors.index.json")
}

/// Names, types and sizes: those of layers folded together, or of each tensor.
pub(super) fn describe(input: &str, each: bool) -> Result<Output> {
    let tensors = shards::read(Path::new(input))?;
    let mut groups: IndexMap<[String; 2], (u64, u64)> = IndexMap::new();
    for (name, tensor) in &tensors {
        let name = if each { name.clone() } else { family(name) };
        let (count, size) = groups.entry([name, format!("{}{}", tensor.dtype(), tensor.shape())]).or_default();
        *count += 1;
        *size += size_of(tensor);
    }
    let head = ["tensor", "type", "count", "bytes"].map(str::to_owned).to_vec();
    let row = |([name, ty], (count, size)): ([String; 2], (u64, u64))| vec![name, ty, grouped(count), bytes(size)];
    let rows: Vec<_> = [head].into_iter().chain(groups.into_iter().map(row)).collect();
    let total = tensors.values().map(size_of).sum();
    let text = format!("{input}: {}, {}\n\n{}", counted(tensors.len(), "tensor"), bytes(total), table(&rows));
    let tensor = |(name, tensor): (&String, &HostTensor)| {
        let (dtype, shape) = (tensor.dtype().to_string(), tensor.shape().to_vec());
        json!({"name": name, "dtype": dtype, "shape": shape, "bytes": size_of(tensor)})
    };
    let all: Vec<_> = tensors.iter().map(tensor).collect();
    Ok(Output { paged: true, ..Output::new(text, json!({"tensors": all, "bytes": total})) })
}

fn size_of(tensor: &HostTensor) -> u64 {
    tensor.bytes().len() as u64
}

/// That an option asks for something else than tensors.
pub(super) fn no_program(input: &str) -> Diagnostic {
    let error = Diagnostic::error(codes::USAGE, format!("`{input}` holds tensors and no program"));
    error.help("name the recipe or the bundle; of tensors, only `--all` shows more")
}
