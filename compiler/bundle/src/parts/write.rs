//! Writing a state in parts: each rank its own, then one of them the index.

use super::index::{PartsIndex, SERIES, index_path, name_of};
use crate::contradiction;
use crate::tensor_file::{Tensors, to_bytes};
use halite_disk::Disk;
use halite_support::files::{cannot, folder_of, read_text};
use halite_support::{Diagnostic, Result};
use std::path::Path;

/// A number that no save in this place has, finished or not, for all ranks to write under.
pub fn next_series(place: &Path) -> u64 {
    parts_at(place).into_iter().map(|(series, _)| series).max().unwrap_or(0).saturating_add(1)
}

/// Writes the part of one rank, whole and durable, where nothing reads it before [`commit`].
///
/// # Errors
/// When it cannot be written.
pub fn write_part(disk: &Disk, place: &Path, index: &PartsIndex, rank: usize, part: &Tensors) -> Result<()> {
    let file = index.files.get(rank).ok_or_else(|| contradiction(&format!("there is no rank {rank}")))?;
    let bytes = to_bytes(part, Some((SERIES, &index.series.to_string())))?;
    halite_disk::write_on(disk, &folder_of(place).join(file), &bytes)
}

/// Puts the index in its place, once all parts are written: from then on it is the state. What was there before goes, also a state in
/// one file.
///
/// # Errors
/// When the index cannot be written: then the state before is whole. When what is out of date cannot be removed.
pub fn commit(disk: &Disk, place: &Path, index: &PartsIndex) -> Result<()> {
    let text = serde_json::to_string(index).map_err(|error| Diagnostic::bug(error.to_string()))?;
    halite_disk::write_on(disk, &index_path(place), (text + "\n").as_bytes())?;
    if place.is_file() {
        disk.remove(place).map_err(|error| cannot("remove", place, &error))?;
    }
    remove_parts(disk, place, |series| series != index.series)
}

/// Removes a state in parts, in whose place there is one in one file now.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(disk: &Disk, place: &Path) -> Result<()> {
    let index = index_path(place);
    // An index of whole tensors is another's.
    if read_text(&index).is_ok_and(|text| PartsIndex::is_one(&text)) {
        disk.remove(&index).map_err(|error| cannot("remove", &index, &error))?;
        return remove_parts(disk, place, |_| true);
    }
    Ok(())
}

fn remove_parts(disk: &Disk, place: &Path, is_old: impl Fn(u64) -> bool) -> Result<()> {
    for (_, file) in parts_at(place).into_iter().filter(|(series, _)| is_old(*series)) {
        let path = folder_of(place).join(file);
        disk.remove(&path).map_err(|error| cannot("remove", &path, &error))?;
    }
    Ok(())
}

/// The files that are called as parts of a state, with their series, in order.
fn parts_at(place: &Path) -> Vec<(u64, String)> {
    let name = name_of(place);
    let entries = std::fs::read_dir(folder_of(place)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut parts: Vec<(u64, String)> = names.filter_map(|file| Some((series_of(&name, &file)?, file))).collect();
    parts.sort_unstable();
    parts
}

/// The series of a file that is called as a part of a state of this name.
fn series_of(name: &str, file: &str) -> Option<u64> {
    let rest = file.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".safetensors")?;
    let (series, rest) = rest.split_once('-')?;
    let (rank, ranks) = rest.split_once("-of-")?;
    let is_number = |text: &str| text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(rank) && is_number(ranks) { series.parse().ok() } else { None }
}
