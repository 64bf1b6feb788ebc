//! The place of a bundle while another takes its own.

use super::MANIFEST;
use halite_support::files::{UNFINISHED, end_of_links};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder that is to be read for the bundle in `folder`: another one where a bundle was being replaced, without a call
/// that exchanges folders, when its process was killed.
pub(super) fn located(folder: &Path) -> PathBuf {
    let set_aside = || end_of_links(folder).ok().and_then(|folder| aside(&folder));
    match set_aside() {
        Some(aside) if !folder.join(MANIFEST).is_file() && aside.join(MANIFEST).is_file() => aside,
        _ => folder.to_path_buf(),
    }
}

/// The place of a bundle while another takes its own, if there is no call that exchanges the two.
pub(super) fn aside(folder: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(UNFINISHED);
    name.push(folder.file_name()?);
    name.push(".old");
    Some(folder.with_file_name(name))
}
