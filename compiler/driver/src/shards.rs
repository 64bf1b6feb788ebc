//! Checkpoints in one file or in several, as Hugging Face's Transformers lays them out: `NAME-00001-of-00003.safetensors`
//! and so on, and `NAME.safetensors.index.json`, which says what is where.

use crate::files::{self, Unfinished};
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

/// The checkpoints of PyTorch's own format, which is not read: a file, and the index of several.
const PICKLED: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];

/// Tensors that lie in one file.
type Shard<'a> = Vec<(&'a String, &'a HostTensor)>;

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
/// When a folder holds neither, or both: one of them may be out of date. When a file cannot be read or is not in its format; every tensor that index and files do not agree on.
pub fn read(path: &Path) -> std::result::Result<Tensors, Diagnostics> {
    let path = &located(path)?;
    if !is_index(path) {
        return tensors::read(path).map_err(Diagnostics::from);
    }
    let index = read_index(path)?;
    let folder = files::folder_of(path);
    let (mut all, mut mistakes) = (Tensors::new(), Diagnostics::new());
    for shard in index.weight_map.values().collect::<IndexSet<_>>() {
        let tensors = tensors::read(&folder.join(shard)).map_err(|error| named_in(path, error))?;
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
/// A checkpoint of that name that is there, in either form, makes way for the new one: at no time does an index name files
/// of both.
///
/// # Errors
/// When a file cannot be written, or what is out of date cannot be removed. Where the new files cannot be written, nothing
/// has changed.
pub fn write(path: &Path, tensors: &Tensors, limit: u64) -> Result<PathBuf> {
    let (folder, name) = (files::folder_of(path), name_of(path));
    let index = folder.join(format!("{name}{INDEX}"));
    let old = files_of(&index);
    let shards = divide(tensors, limit);
    if shards.len() <= 1 {
        files::write(path, &tensors::to_bytes(tensors, Some(MARK))?)?;
        remove_all([index].into_iter().chain(old), &[path.to_path_buf()])?;
        return Ok(path.to_path_buf());
    }
    let place = |at: usize| folder.join(format!("{name}-{:05}-of-{:05}{SUFFIX}", at + 1, shards.len()));
    let places: Vec<PathBuf> = (0..shards.len()).map(place).collect();
    let mut written = Vec::new();
    for (shard, place) in shards.iter().zip(&places) {
        written.push(Unfinished::new(place, &tensors::to_bytes(shard.iter().copied(), Some(MARK))?)?);
    }
    written.push(Unfinished::new(&index, index_of(&shards, &places).as_bytes())?);
    files::remove(&index)?;
    Unfinished::finish_all(written)?;
    remove_all([path.to_path_buf()].into_iter().chain(old), &places)?;
    Ok(index)
}

/// What the names of the files of a checkpoint begin with.
fn name_of(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| NAME.to_owned(), |name| name.to_string_lossy().into_owned());
    name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned()
}

/// The files that an index names; none where there is no index.
fn files_of(index: &Path) -> Vec<PathBuf> {
    let folder = files::folder_of(index);
    let shards: IndexSet<String> =
        read_index(index).map_or_else(|_| IndexSet::new(), |index| index.weight_map.into_values().collect());
    shards.into_iter().filter(|shard| shard.ends_with(SUFFIX)).map(|shard| folder.join(shard)).collect()
}

/// The text of the index of shards in these places.
fn index_of(shards: &[Shard<'_>], places: &[PathBuf]) -> String {
    let file = |place: &PathBuf| place.file_name().map(|name| name.to_string_lossy().into_owned());
    let placed =
        shards.iter().zip(places).flat_map(|(shard, place)| shard.iter().map(move |(name, _)| (*name, file(place))));
    let weight_map: BTreeMap<_, _> = placed.collect();
    let total_size = shards.iter().flatten().map(|(_, tensor)| size(tensor)).sum::<u64>();
    let index = serde_json::json!({"metadata": {"total_size": total_size}, "weight_map": weight_map});
    format!("{index:#}\n")
}

/// Removes files, other than those that are to stay.
fn remove_all(files: impl Iterator<Item = PathBuf>, stay: &[PathBuf]) -> Result<()> {
    files.filter(|file| file.is_file() && !stay.contains(file)).try_for_each(|file| files::remove(&file))
}

/// The file that a path stands for: that of a folder, in the form that it has.
fn located(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let [whole, index] = [SUFFIX, INDEX].map(|suffix| path.join(format!("{NAME}{suffix}")));
    match (whole.is_file(), index.is_file()) {
        (true, false) => Ok(whole),
        (false, true) => Ok(index),
        (true, true) => {
            let message = format!("`{}` holds both `{NAME}{SUFFIX}` and `{NAME}{INDEX}`", path.display());
            let help = format!("name the one to read: `{}` or `{}`", whole.display(), index.display());
            Err(Diagnostic::error(codes::TENSOR_FILE, message).help(help))
        }
        (false, false) => Err(no_checkpoint(path)),
    }
}

/// What a folder gets that holds no checkpoint.
fn no_checkpoint(folder: &Path) -> Diagnostic {
    let message = format!("`{}` holds neither `{NAME}{SUFFIX}` nor `{NAME}{INDEX}`", folder.display());
    let error = Diagnostic::error(codes::TENSOR_FILE, message);
    match PICKLED.iter().find(|name| folder.join(name).is_file()) {
        Some(name) => error
            .note(format!("`{name}` is there, but only safetensors are read"))
            .help("convert it to safetensors first, with `save_pretrained` of Transformers"),
        None => error.help("check the path, or name the file to read"),
    }
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
fn divide(tensors: &Tensors, limit: u64) -> Vec<Shard<'_>> {
    let mut shards: Vec<Shard<'_>> = Vec::new();
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

    /// Names and sizes of the files of a folder, by name.
    fn listing(folder: &Path) -> Vec<(String, u64)> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> = entries
            .filter(|entry| entry.path().is_file())
            .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn shards_that_cannot_all_be_written_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let old = tensors(&[("a", 1), ("b", 2)]);
        let new: Tensors = old
            .iter()
            .map(|(name, tensor)| {
                (name.clone(), HostTensor::from_f64s(DType::F32, tensor.shape().clone(), vec![1.0; tensor.len()]))
            })
            .collect();
        let last = folder.path().join("model-00002-of-00002.safetensors");
        std::fs::create_dir(&last).unwrap();
        let error = write(&path, &new, 4).unwrap_err();
        assert!(error.message().ends_with("model-00002-of-00002.safetensors`: is a directory"), "{}", error.message());
        assert_eq!(listing(folder.path()), []);

        std::fs::remove_dir(&last).unwrap();
        write(&path, &old, 4).unwrap();
        let files = listing(folder.path());
        let more: Tensors = new.into_iter().chain(tensors(&[("c", 1)])).collect();
        std::fs::create_dir(folder.path().join("model-00003-of-00003.safetensors")).unwrap();
        write(&path, &more, 4).unwrap_err();
        assert_eq!(listing(folder.path()), files);
        assert_eq!(read(folder.path()).unwrap(), old);
    }

    #[test]
    fn an_older_checkpoint_of_the_same_name_makes_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        std::fs::write(folder.path().join("other-00001-of-00001.safetensors"), "").unwrap();
        let [three, two] = [&[("a", 1), ("b", 1), ("c", 1)][..], &[("a", 2), ("b", 3)]].map(tensors);
        for (all, limit, count) in [(&three, 4, 4), (&two, 8, 3), (&three, 99, 1), (&two, 8, 3), (&two, 99, 1)] {
            let place = write(&path, all, limit).unwrap();
            assert_eq!(read(folder.path()).unwrap(), *all);
            assert_eq!(read(&place).unwrap(), *all);
            assert_eq!(listing(folder.path()).len(), count + 1, "{:?}", listing(folder.path()));
        }
    }

    #[test]
    fn a_folder_with_both_forms_or_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let message = || read(folder.path()).unwrap_err().remove(0).to_string();
        assert!(message().contains("holds neither `model.safetensors` nor `model.safetensors.index.json`"));
        std::fs::write(folder.path().join("pytorch_model.bin"), "").unwrap();
        let error = read(folder.path()).unwrap_err().remove(0);
        assert_eq!(error.notes(), ["`pytorch_model.bin` is there, but only safetensors are read"]);
        let path = folder.path().join("model.safetensors");
        let all = tensors(&[("a", 1), ("b", 2)]);
        let index = write(&path, &all, 4).unwrap();
        tensors::write(&path, &all).unwrap();
        assert!(message().contains("holds both `model.safetensors` and `model.safetensors.index.json`"));
        assert_eq!((read(&path).unwrap(), read(&index).unwrap()), (all.clone(), all));
    }
}
