//! Putting a bundle in its place.

use super::read::check_names;
use super::{Bundle, MANIFEST, NEFFS, TWINS};
use crate::compile::MODEL;
use crate::files::{UNFINISHED, cannot, folder_of};
use halite_spec::Manifest;
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

/// Writes beside the target, then moves into place.
pub(super) fn write(bundle: &Bundle, folder: &Path) -> Result<()> {
    let parent = folder_of(folder);
    check_names(&bundle.files)?;
    check_target(folder)?;
    std::fs::create_dir_all(&parent).map_err(|error| cannot("make the folder", &parent, &error))?;
    let scratch = tempfile::Builder::new()
        .prefix(UNFINISHED)
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
    let own = own(folder);
    for entry in std::fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))? {
        let entry = entry.map_err(|error| cannot("read", folder, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(own) = &own else { return refuse("is a folder with other files, not a bundle") };
        let foreign = match name.as_str() {
            TWINS => foreign_in(&entry.path(), TWINS, |file| own.twins.iter().any(|twin| twin == file)),
            NEFFS => foreign_in(&entry.path(), NEFFS, |file| own.is_neff(file)),
            _ => own.not_a_file(name),
        };
        if let Some(name) = foreign {
            return refuse(&format!("holds `{name}`, which is not part of the bundle there"));
        }
    }
    Ok(())
}

/// What the bundle in `folder` states of itself; `None` when it is no bundle.
fn own(folder: &Path) -> Option<Own> {
    let text = std::fs::read_to_string(folder.join(MANIFEST)).ok()?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    let twins = manifest.modules.iter().flat_map(|module| &module.twins).map(|twin| twin.file.clone()).collect();
    let names = manifest.modules.into_iter().map(|module| module.name);
    Some(Own { modules: names.chain([MODEL.to_owned()]).collect(), twins })
}

/// What a bundle calls its own.
struct Own {
    /// The names of its modules, and what its dumps call all of them.
    modules: Vec<String>,
    /// The files of twins.
    twins: Vec<String>,
}

impl Own {
    /// The name again, when it is no file of the bundle.
    fn not_a_file(&self, name: String) -> Option<String> {
        (name != MANIFEST && !self.modules.iter().any(|module| belongs(&name, module))).then_some(name)
    }

    /// Whether a file is what `halite neuron compile` makes of a module, or was about to when it was killed.
    fn is_neff(&self, file: &str) -> bool {
        let made = |module: &String| [".neff", ".log"].iter().any(|end| file == format!("{NEFFS}/{module}{end}"));
        self.modules.iter().any(made) || file.starts_with(&format!("{NEFFS}/{UNFINISHED}"))
    }
}

/// The first file `folder/name` of a folder that is not the bundle's; the folder itself when it cannot be read.
fn foreign_in(path: &Path, folder: &str, is_own: impl Fn(&str) -> bool) -> Option<String> {
    let Ok(entries) = std::fs::read_dir(path) else { return Some(folder.to_owned()) };
    let mut names = entries.map(|entry| match entry {
        Ok(entry) => format!("{folder}/{}", entry.file_name().to_string_lossy()),
        Err(_) => folder.to_owned(),
    });
    names.find(|name| !is_own(name))
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
