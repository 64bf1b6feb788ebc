//! Results that are kept: tests that run the same programs many times wait for them once.

use crate::orders;
use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The folder where results are kept, if any.
pub(crate) fn folder() -> Option<PathBuf> {
    orders::variable("MEMORY").map(PathBuf::from)
}

/// The results for a program and its inputs: those that are kept, else computed and kept.
pub(crate) fn recall<'b>(
    asked: impl Iterator<Item = &'b [u8]>,
    compute: impl FnOnce() -> Result<Vec<Vec<u8>>, c_int>,
) -> Result<Vec<Vec<u8>>, c_int> {
    let Some(folder) = folder() else { return compute() };
    let mut hasher = DefaultHasher::new();
    asked.for_each(|part| part.hash(&mut hasher));
    let path = folder.join(format!("{:016x}", hasher.finish()));
    if let Some(known) = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return Ok(known);
    }
    let results = compute()?;
    keep(&path, &results);
    Ok(results)
}

/// Puts results in place whole: other processes look for them. What cannot be kept is computed again.
fn keep(path: &Path, results: &[Vec<u8>]) {
    let unfinished = path.with_extension(std::process::id().to_string());
    let bytes = serde_json::to_vec(results).unwrap_or_default();
    let _ = std::fs::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, path));
}
