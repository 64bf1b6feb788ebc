//! Putting a bundle in its place.

use super::{Bundle, MANIFEST};
use crate::files::{cannot, folder_of};
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// Writes beside the target, then moves into place.
pub(super) fn write(bundle: &Bundle, folder: &Path) -> Result<()> {
    let parent = folder_of(folder);
    check_target(folder)?;
    std::fs::create_dir_all(&parent).map_err(|error| cannot("make the folder", &parent, &error))?;
    let scratch = tempfile::Builder::new()
        .prefix(".halite-")
        .tempdir_in(&parent)
        .map_err(|error| cannot("write to", &parent, &error))?;
    let fresh = scratch.path().join("new");
    fill(bundle, &fresh)?;
    // The old bundle leaves first: a rename does not replace a folder that is not empty.
    let old = scratch.path().join("old");
    let replaces = folder.exists();
    if replaces {
        std::fs::rename(folder, &old).map_err(|error| cannot("replace", folder, &error))?;
    }
    if let Err(error) = std::fs::rename(&fresh, folder) {
        let back = if replaces { std::fs::rename(&old, folder) } else { Ok(()) };
        back.map_err(|error| cannot("put back", folder, &error))?;
        return Err(cannot("write", folder, &error));
    }
    Ok(())
}

/// Only a bundle or an empty folder gives way.
fn check_target(folder: &Path) -> Result<()> {
    let refuse = |what: &str| {
        Err(Diagnostic::error(codes::OUTPUT, format!("`{}` is {what}, not a bundle", folder.display()))
            .help("choose another place with `-o`, or remove it"))
    };
    if !folder.exists() || folder.join(MANIFEST).is_file() {
        return Ok(());
    }
    if !folder.is_dir() {
        return refuse("a file");
    }
    let mut entries = std::fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    if entries.next().is_some() { refuse("a folder with other files") } else { Ok(()) }
}

fn fill(bundle: &Bundle, folder: &Path) -> Result<()> {
    let manifest = (MANIFEST, bundle.manifest_json().into_bytes());
    let files = bundle.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    for (name, bytes) in files.chain([(manifest.0, manifest.1.as_slice())]) {
        let path = folder.join(name);
        let parent = folder_of(&path);
        std::fs::create_dir_all(&parent).map_err(|error| cannot("make the folder", &parent, &error))?;
        std::fs::write(&path, bytes).map_err(|error| cannot("write", &path, &error))?;
    }
    Ok(())
}
