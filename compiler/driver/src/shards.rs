//! Checkpoints in one file or in several, as Hugging Face's Transformers lays them out: `NAME-00001-of-00003.safetensors`
//! and so on, and `NAME.safetensors.index.json`, which says what is where.

use crate::files;
use crate::tensors::{self, Tensors};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexSet;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the names of tensor files end with.
const SUFFIX: &str = ".safetensors";

/// What the names of indices end with.
const INDEX: &str = ".safetensors.index.json";

/// The name of a checkpoint in a folder of its own, without ending.
const NAME: &str = "model";

/// What is read of the index of a checkpoint.
#[derive(Debug, Deserialize)]
struct Index {
    /// The file of each tensor.
    weight_map: BTreeMap<String, String>,
}

/// What Transformers wants to see in a file: that tensors lie as PyTorch has them.
const MARK: (&str, &str) = ("format", "pt");

/// Reads every tensor of a checkpoint, sorted by name: a file, an index with the files beside it, or a folder that holds
/// `model.safetensors` or its index.
///
/// # Errors
/// When a file cannot be read or is not in its format; every tensor that index and files do not agree on.
pub fn read(path: &Path) -> std::result::Result<Tensors, Diagnostics> {
    let path = &located(path);
    if !is_index(path) {
        return tensors::read(path).map_err(Diagnostics::from);
    }
    let index = read_index(path)?;
    let folder = files::folder_of(path);
    let (mut all, mut mistakes) = (Tensors::new(), Diagnostics::new());
    for shard in index.weight_map.values().collect::<IndexSet<_>>() {
        let tensors = tensors::read(&folder.join(shard)).map_err(|error| vec![named_in(path, error)])?;
        for (name, tensor) in tensors {
            match index.weight_map.get(&name) {
                Some(file) if file == shard => _ = all.insert(name, tensor),
                _ => mistakes.push(disagree(path, format!("`{shard}` holds `{name}`, the index does not say so"))),
            }
        }
    }
    for (name, shard) in index.weight_map.iter().filter(|(name, _)| !all.contains_key(*name)) {
        mistakes.push(disagree(path, format!("`{shard}` does not hold `{name}`, as the index says")));
    }
    all.sort_keys();
    if mistakes.is_empty() { Ok(all) } else { Err(crate::execute::shorten(mistakes)) }
}

/// Writes tensors to one file or, where they have more than `limit` bytes, to several of at most so many and an index
/// beside them. A tensor is never split. Returns the path of what is to be read: the file, or the index.
///
/// # Errors
/// When a file cannot be written.
pub fn write(path: &Path, tensors: &Tensors, limit: u64) -> Result<PathBuf> {
    let shards = divide(tensors, limit);
    if shards.len() <= 1 {
        tensors::write_marked(path, tensors, Some(MARK))?;
        return Ok(path.to_path_buf());
    }
    let folder = files::folder_of(path);
    let name = path.file_name().map_or_else(|| NAME.to_owned(), |name| name.to_string_lossy().into_owned());
    let name = name.strip_suffix(SUFFIX).unwrap_or(&name);
    let mut weight_map = BTreeMap::new();
    for (at, shard) in shards.iter().enumerate() {
        let file = format!("{name}-{:05}-of-{:05}{SUFFIX}", at + 1, shards.len());
        let part: Tensors = shard.iter().map(|&(name, tensor)| (name.clone(), tensor.clone())).collect();
        tensors::write_marked(&folder.join(&file), &part, Some(MARK))?;
        weight_map.extend(shard.iter().map(|&(name, _)| (name.clone(), file.clone())));
    }
    let total_size = tensors.values().map(size).sum::<u64>();
    let index = serde_json::json!({"metadata": {"total_size": total_size}, "weight_map": weight_map});
    let place = folder.join(format!("{name}{INDEX}"));
    files::write(&place, format!("{index:#}\n").as_bytes())?;
    Ok(place)
}

/// The file that a folder stands for.
fn located(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_path_buf();
    }
    let index = path.join(format!("{NAME}{INDEX}"));
    if index.is_file() { index } else { path.join(format!("{NAME}{SUFFIX}")) }
}

fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn read_index(path: &Path) -> Result<Index> {
    let index: Index = serde_json::from_str(&files::read_text(path)?).map_err(|error| {
        let message = format!("`{}` is not the index of a checkpoint: {error}", path.display());
        Diagnostic::error(codes::TENSOR_FILE, message).help(format!("give a file that ends in `{INDEX}`"))
    })?;
    // A name that leads elsewhere is a mistake, or worse.
    let leads_away = |file: &&String| Path::new(file.as_str()).file_name() != Some(file.as_ref());
    match index.weight_map.values().find(leads_away) {
        Some(file) => Err(disagree(path, format!("the index names `{file}`, which is not a file beside it"))),
        None => Ok(index),
    }
}

fn named_in(index: &Path, error: Diagnostic) -> Diagnostic {
    error.note(format!("named in `{}`", index.display()))
}

fn disagree(index: &Path, message: String) -> Diagnostic {
    named_in(index, Diagnostic::error(codes::TENSOR_FILE, message))
        .help("fetch the checkpoint again, with all its files")
}

fn size(tensor: &HostTensor) -> u64 {
    tensor.bytes().len() as u64
}

/// Consecutive tensors of at most `limit` bytes together; a larger one stands alone.
fn divide(tensors: &Tensors, limit: u64) -> Vec<Vec<(&String, &HostTensor)>> {
    let mut shards: Vec<Vec<_>> = Vec::new();
    let mut used = 0;
    for (name, tensor) in tensors {
        match shards.last_mut() {
            Some(shard) if used + size(tensor) <= limit => shard.push((name, tensor)),
            _ => {
                shards.push(vec![(name, tensor)]);
                used = 0;
            }
        }
        used += size(tensor);
    }
    shards
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_tensor::DType;

    fn tensors(sizes: &[(&str, usize)]) -> Tensors {
        let tensor = |size: usize| HostTensor::zeros(DType::F32, [size]);
        sizes.iter().map(|&(name, size)| (name.to_owned(), tensor(size))).collect()
    }

    #[test]
    fn shards_are_full_and_no_tensor_is_split() {
        let all = tensors(&[("a", 1), ("b", 1), ("c", 5), ("d", 2)]);
        let names: Vec<Vec<&str>> = divide(&all, 8)
            .into_iter()
            .map(|shard| shard.into_iter().map(|(name, _)| name.as_str()).collect())
            .collect();
        assert_eq!(names, [vec!["a", "b"], vec!["c"], vec!["d"]]);
        assert_eq!(divide(&all, u64::MAX).len(), 1);
    }

    #[test]
    fn an_index_that_its_files_do_not_follow_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let all = tensors(&[("a", 1), ("b", 2)]);
        let index = write(&folder.path().join("model.safetensors"), &all, 4).unwrap();
        assert_eq!(read(folder.path()).unwrap(), all);
        let text = std::fs::read_to_string(&index).unwrap();
        let messages = |text: String| {
            std::fs::write(&index, text).unwrap();
            let errors = read(&index).unwrap_err();
            errors.iter().map(|error| error.message().to_owned()).collect::<Vec<_>>()
        };
        let (first, second) = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
        let expected = [
            format!("`{second}` holds `b`, the index does not say so"),
            format!("`{second}` does not hold `c`, as the index says"),
        ];
        assert_eq!(messages(text.replace("\"b\"", "\"c\"")), expected);
        let away = messages(text.replace(first, "../other.safetensors"));
        assert_eq!(away, ["the index names `../other.safetensors`, which is not a file beside it"]);
        assert!(messages("{}".to_owned())[0].contains("is not the index of a checkpoint"));
    }
}
