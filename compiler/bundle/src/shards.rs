//! Checkpoints in one file or in several, as Hugging Face's Transformers lays them out: `NAME-00001-of-00003.safetensors` and so on,
//! and `NAME.safetensors.index.json`, which names the file of each tensor.

mod journal;

use crate::parts::{self, PartsIndex};
use crate::tensors::{self, Tensors};
use halite_disk::{Disk, Unfinished};
use halite_support::files::{self, cannot};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::HostTensor;
use indexmap::IndexSet;
use journal::{Changes, Journal};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The ending of the names of tensor files.
const SUFFIX: &str = ".safetensors";

/// The ending of the names of indices.
const INDEX: &str = ".safetensors.index.json";

/// The name of a checkpoint in a folder of its own, without ending.
const NAME: &str = "model";

/// The checkpoints of PyTorch's own format, which is not read: a file, and the index of several.
const PICKLED: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];

/// Tensors that lie in one file.
type Shard<'a> = Vec<(&'a String, &'a HostTensor)>;

/// The part of a checkpoint's index that is read.
#[derive(Debug, Deserialize)]
struct Index {
    /// The file of each tensor.
    weight_map: BTreeMap<String, String>,
}

/// The metadata that Transformers wants to see in a file: that tensors lie as PyTorch has them.
const MARK: (&str, &str) = ("format", "pt");

/// Reads every tensor of a checkpoint, sorted by name: a file, an index with the files beside it, a folder that holds
/// `model.safetensors` or its index, or a state in [parts] by its index.
///
/// # Errors
/// When a folder holds neither, or both: one of them may be out of date. When a file cannot be read or is not in its format; every
/// tensor that index and files do not agree on.
pub fn read(path: &Path) -> std::result::Result<Tensors, Diagnostics> {
    let path = &located(path)?;
    if !is_index(path) {
        return tensors::read(path).map_err(Diagnostics::from);
    }
    let text = files::read_text(path)?;
    if PartsIndex::is_one(&text) {
        return Ok(parts::read(path, &text, "")?.0);
    }
    let (index, folder) = (parse_index(&text, path)?, files::folder_of(path));
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
    if mistakes.is_empty() { Ok(all) } else { Err(crate::expected::shorten(mistakes)) }
}

/// Writes tensors to one file or, where they have more than `limit` bytes, to several of at most so many and an index
/// beside them. A tensor is never split. Returns the path that is to be read: the file, or the index.
///
/// A checkpoint of that name that is there, in either form, makes way for the new one in one step: whenever the process is
/// killed, [`read`] finds the old one or the new one whole, and what is left of the other goes with the next write. Files
/// that are in the way are left alone: shards get names that are free, such as `NAME.2-00001-of-00003.safetensors`. Of an
/// older checkpoint, those go that its index names and that are called as here.
///
/// # Errors
/// When a file cannot be written: nothing has changed then, or the new checkpoint is whole. When what is out of date cannot
/// be removed, another process writes the checkpoint, or an index would have to name files whose names are no text.
pub fn write(path: &Path, tensors: &Tensors, limit: u64) -> Result<PathBuf> {
    write_on(&Disk::default(), path, tensors, limit)
}

/// As [`write`], on a certain disk.
fn write_on(disk: &Disk, path: &Path, tensors: &Tensors, limit: u64) -> Result<PathBuf> {
    let shards = divide(tensors, limit);
    let (folder, is_whole) = (files::folder_of(path), shards.len() <= 1);
    let Some(name) = name_of(path) else {
        if is_whole {
            return halite_disk::write_on(disk, path, &tensors::to_bytes(tensors, Some(MARK))?)
                .map(|()| path.to_path_buf());
        }
        let message =
            format!("the index of a checkpoint cannot name files like `{}`, which is not UTF-8", path.display());
        return Err(Diagnostic::error(codes::FILE, message).help("choose a name in UTF-8, or write one file"));
    };
    Journal::settle_old(disk, &folder, name)?;
    let index = folder.join(format!("{name}{INDEX}"));
    let mut old = named_by(&index);
    old.retain(|file| is_shard(name, file));
    if is_whole {
        let bytes = tensors::to_bytes(tensors, Some(MARK))?;
        if !index.is_file() {
            return halite_disk::write_on(disk, path, &bytes).map(|()| path.to_path_buf());
        }
        old.push(file_of(&index));
        let changes = Changes { head: file_of(path), new: Vec::new(), old };
        if path.exists() {
            // Nobody can tell which of the two counts: the head is in its place before the journal says so.
            halite_disk::write_on(disk, path, &bytes)?;
            Journal::begin(disk, &folder, name, &changes)?.settle(disk)?;
        } else {
            let head = halite_disk::unfinished(disk, path, &bytes)?;
            replace(disk, (&folder, name), Vec::new(), head, &changes)?;
        }
        return Ok(path.to_path_buf());
    }
    let new = free_names(&folder, name, shards.len(), &named_by(&index));
    let write = |(shard, file): (&Shard<'_>, &String)| {
        halite_disk::unfinished(disk, &folder.join(file), &tensors::to_bytes(shard.iter().copied(), Some(MARK))?)
    };
    let files = shards.iter().zip(&new).map(write).collect::<Result<Vec<_>>>()?;
    let head = halite_disk::unfinished(disk, &index, index_of(&shards, &new).as_bytes())?;
    let whole = folder.join(format!("{name}{SUFFIX}"));
    for single in [path, &whole] {
        if single.is_file() && single != index {
            old.push(file_of(single));
        }
    }
    let changes = Changes { head: file_of(&index), new, old };
    replace(disk, (&folder, name), files, head, &changes)?;
    Ok(index)
}

/// Gives files their names, then the head its own, then removes what is old; or, where that fails before the head has its
/// name, what is new.
fn replace(
    disk: &Disk,
    (folder, name): (&Path, &str),
    files: Vec<Unfinished>,
    head: Unfinished,
    changes: &Changes,
) -> Result<()> {
    let journal = Journal::begin(disk, folder, name, changes)?;
    let put = || {
        files.into_iter().try_for_each(Unfinished::rename)?;
        disk.sync_folder(folder)?;
        head.rename()?;
        disk.sync_folder(folder)
    };
    let done = put().map_err(|error| cannot("write to", folder, &error));
    done.and(journal.settle(disk))
}

/// The beginning of the names of the files of a checkpoint; `None` when it is no text.
fn name_of(path: &Path) -> Option<&str> {
    let name = path.file_name().map_or(Some(NAME), |name| name.to_str())?;
    Some(name.strip_suffix(SUFFIX).unwrap_or(name))
}

/// The name of a file of a checkpoint, all of which are text.
fn file_of(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
}

/// Names for shards that nothing has, and that no older index names.
fn free_names(folder: &Path, name: &str, count: usize, taken: &[String]) -> Vec<String> {
    let series = |start: String| -> Vec<String> {
        (1..=count).map(|at| format!("{start}-{at:05}-of-{count:05}{SUFFIX}")).collect()
    };
    let is_free = |file: &String| !taken.contains(file) && folder.join(file).symlink_metadata().is_err();
    let mut all = std::iter::once(name.to_owned()).chain((2_u64..).map(|number| format!("{name}.{number}")));
    all.find_map(|start| Some(series(start)).filter(|names| names.iter().all(is_free))).unwrap_or_default()
}

/// Whether a file is called as the shards of a checkpoint of this name.
fn is_shard(name: &str, file: &str) -> bool {
    let number = |text: &str, length| text.len() >= length && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = file.strip_prefix(name).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some((series, (at, count))) = rest.and_then(|rest| {
        let (rest, count) = rest.rsplit_once("-of-")?;
        let (series, at) = rest.rsplit_once('-')?;
        Some((series, (at, count)))
    }) else {
        return false;
    };
    let is_series = series.is_empty() || series.strip_prefix('.').is_some_and(|series| number(series, 1));
    is_series && number(at, 5) && number(count, 5)
}

/// The names of the files that an index names; none where there is no index.
fn named_by(index: &Path) -> Vec<String> {
    let files: IndexSet<String> =
        read_index(index).map_or_else(|_| IndexSet::new(), |index| index.weight_map.into_values().collect());
    files.into_iter().collect()
}

/// The text of the index of shards in these files.
fn index_of(shards: &[Shard<'_>], files: &[String]) -> String {
    let placed = shards.iter().zip(files).flat_map(|(shard, file)| shard.iter().map(move |(name, _)| (*name, file)));
    let weight_map: BTreeMap<_, _> = placed.collect();
    let total_size = shards.iter().flatten().map(|(_, tensor)| size(tensor)).sum::<u64>();
    let index = serde_json::json!({"metadata": {"total_size": total_size}, "weight_map": weight_map});
    format!("{index:#}\n")
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
            if let Some(head) = Journal::head(path, NAME) {
                return Ok(head);
            }
            let message = format!("`{}` holds both `{NAME}{SUFFIX}` and `{NAME}{INDEX}`", path.display());
            let help = format!("name the one to read: `{}` or `{}`", whole.display(), index.display());
            Err(Diagnostic::error(codes::TENSOR_FILE, message).help(help))
        }
        (false, false) => Err(no_checkpoint(path)),
    }
}

/// The diagnostic on a folder that holds no checkpoint.
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
    parse_index(&files::read_text(path)?, path)
}

fn parse_index(text: &str, path: &Path) -> Result<Index> {
    let index: Index = serde_json::from_str(text).map_err(|error| {
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
mod tests;
