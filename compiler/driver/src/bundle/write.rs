//! Putting a bundle in its place.

use super::{Bundle, MANIFEST};
use crate::compile::MODEL;
use crate::files::{cannot, folder_of};
use halite_spec::Manifest;
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

/// Only a bundle or an empty folder gives way, and a bundle only when it holds nothing that is not its own.
fn check_target(folder: &Path) -> Result<()> {
    let refuse = |what: &str| {
        Err(Diagnostic::error(codes::OUTPUT, format!("`{}` {what}", folder.display()))
            .help("choose another place with `-o`, or remove it"))
    };
    if !folder.exists() {
        return Ok(());
    }
    if !folder.is_dir() {
        return refuse("is a file, not a bundle");
    }
    let modules = own_modules(folder);
    for entry in std::fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))? {
        let entry = entry.map_err(|error| cannot("read", folder, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match &modules {
            None => return refuse("is a folder with other files, not a bundle"),
            Some(modules) if name != MANIFEST && !modules.iter().any(|module| belongs(&name, module)) => {
                return refuse(&format!("holds `{name}`, which is not part of the bundle there"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The names of the modules of the bundle in `folder`, and what its dumps call all of them; `None` when it is no bundle.
fn own_modules(folder: &Path) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(folder.join(MANIFEST)).ok()?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    let names = manifest.modules.into_iter().map(|module| module.name);
    Some(names.chain([MODEL.to_owned()]).collect())
}

/// Whether a file is one that compiling `module` writes: its HLO, its text forms, its dumps.
fn belongs(name: &str, module: &str) -> bool {
    let rest = name.strip_prefix(module);
    rest.is_some_and(|rest| {
        rest.starts_with('.') && [".hlo.pb", ".hlo.txt", ".ir"].iter().any(|end| rest.ends_with(end))
    })
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
