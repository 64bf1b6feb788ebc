//! Putting a bundle in its place.

use super::aside::aside;
use super::read::check_names;
use super::{Bundle, DECOMPOSITIONS, MANIFEST, NEFFS};
use crate::Manifest;
use halite_disk::{Disk, Scratch, make_folder_of};
use halite_support::files::{UNFINISHED, cannot, end_of_links, folder_of};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexSet;
use std::path::Path;

/// Writes beside the target, then moves into place. Of a link, the target is what it leads to.
pub(super) fn write(disk: &Disk, bundle: &Bundle, folder: &Path) -> Result<()> {
    let folder = &end_of_links(folder).map_err(|error| cannot("write", folder, &error))?;
    let parent = folder_of(folder);
    check_names(&bundle.files)?;
    settle(disk, folder)?;
    check_target(folder)?;
    make_folder_of(disk, folder)?;
    let scratch = Scratch::new(disk, &parent).map_err(|error| cannot("write to", &parent, &error))?;
    let fresh = scratch.path().join("new");
    fill(disk, bundle, &fresh)?;
    place(disk, &fresh, folder)?;
    disk.sync_folder(&parent).map_err(|error| cannot("write", folder, &error))
}

/// Ends what a killed process began: a bundle that was set aside is put back, or is removed if another has its place.
fn settle(disk: &Disk, folder: &Path) -> Result<()> {
    let Some(aside) = aside(folder).filter(|aside| aside.is_dir()) else { return Ok(()) };
    if folder.join(MANIFEST).is_file() {
        return disk.remove_folder(&aside).map_err(|error| cannot("remove", &aside, &error));
    }
    disk.rename(&aside, folder).map_err(|error| cannot("put back", folder, &error))
}

/// Gives a new bundle the name of its folder. The old one ends up where the new one was, or is removed.
fn place(disk: &Disk, fresh: &Path, folder: &Path) -> Result<()> {
    let fault = |error: std::io::Error| cannot("write", folder, &error);
    if !folder.exists() {
        return disk.rename(fresh, folder).map_err(fault);
    }
    if disk.exchange(fresh, folder).map_err(fault)? {
        return Ok(());
    }
    let Some(aside) = aside(folder) else { return Err(fault(std::io::ErrorKind::ResourceBusy.into())) };
    disk.rename(folder, &aside).map_err(|error| cannot("replace", folder, &error))?;
    if let Err(error) = disk.rename(fresh, folder) {
        let error = fault(error);
        return Err(match disk.rename(&aside, folder) {
            Ok(()) => error,
            Err(_) => error
                .note(format!("the bundle that was there is in `{}`, and is read from there", aside.display()))
                .help(format!("rename it to `{}`, or write the bundle again", folder.display())),
        });
    }
    disk.sync_folder(&folder_of(folder)).map_err(fault)?;
    // The rest of it is removed when next a bundle is written here.
    let _ = disk.remove_folder(&aside);
    Ok(())
}

/// Checks that a bundle or an empty folder gives way, and a bundle only when it holds nothing that is not its own.
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
        let Some(own) = &own else { return refuse("is a folder with other files, not a bundle") };
        let foreign = match entry.file_name().to_str() {
            Some(DECOMPOSITIONS) => foreign_in(&entry.path(), DECOMPOSITIONS, |file| {
                own.decompositions.iter().any(|decomposition| decomposition == file)
            }),
            Some(NEFFS) => foreign_in(&entry.path(), NEFFS, |file| own.is_neff(file)),
            Some(name) if own.is_file(name) => None,
            _ => Some(entry.file_name().display().to_string()),
        };
        if let Some(name) = foreign {
            return refuse(&format!("holds `{name}`, which is not part of the bundle there"));
        }
    }
    Ok(())
}

/// The files that belong to the bundle in `folder`; `None` when it is no bundle.
fn own(folder: &Path) -> Option<Own> {
    let text = std::fs::read_to_string(folder.join(MANIFEST)).ok()?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    let decompositions = manifest
        .modules
        .iter()
        .flat_map(|module| &module.decompositions)
        .map(|decomposition| decomposition.file.clone())
        .collect();
    let names = manifest.modules.into_iter().map(|module| module.name);
    Some(Own { modules: names.chain([super::MODEL_DUMPS.to_owned()]).collect(), decompositions })
}

/// The files that belong to a bundle.
struct Own {
    /// The names of its modules, and the name that its dumps have for all of them.
    modules: Vec<String>,
    /// The files of decompositions.
    decompositions: Vec<String>,
}

impl Own {
    /// Whether a file is one of the bundle.
    fn is_file(&self, name: &str) -> bool {
        name == MANIFEST || self.modules.iter().any(|module| belongs(name, module))
    }

    /// Whether a file is one that the compiler of a target makes of a module, or was about to make when it was killed.
    fn is_neff(&self, file: &str) -> bool {
        let made =
            |module: &String| [".neff", ".json", ".log"].iter().any(|end| file == format!("{NEFFS}/{module}{end}"));
        self.modules.iter().any(made) || file.starts_with(&format!("{NEFFS}/{UNFINISHED}"))
    }
}

/// The first file `folder/name` of a folder that is not the bundle's; the folder itself when it cannot be read.
fn foreign_in(path: &Path, folder: &str, is_own: impl Fn(&str) -> bool) -> Option<String> {
    let Ok(entries) = std::fs::read_dir(path) else { return Some(folder.to_owned()) };
    let foreign = |entry: std::io::Result<std::fs::DirEntry>| {
        let Ok(entry) = entry else { return Some(folder.to_owned()) };
        let name = format!("{folder}/{}", entry.file_name().display());
        // A name that is no text is none of the bundle's, however it is shown.
        (entry.file_name().to_str().is_none() || !is_own(&name)).then_some(name)
    };
    { entries }.find_map(foreign)
}

/// Whether a file is one that compiling `module` writes: its HLO, its text forms, its dumps.
fn belongs(name: &str, module: &str) -> bool {
    let rest = name.strip_prefix(module);
    rest.is_some_and(|rest| {
        rest.starts_with('.') && [".hlo.pb", ".hlo.txt", ".mlir", ".ir"].iter().any(|end| rest.ends_with(end))
    })
}

/// Makes the folder of a bundle, so that all of it is on the device.
fn fill(disk: &Disk, bundle: &Bundle, folder: &Path) -> Result<()> {
    let manifest = (MANIFEST, bundle.manifest_json().into_bytes());
    let files = bundle.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let mut folders = IndexSet::new();
    for (name, bytes) in files.chain([(manifest.0, manifest.1.as_slice())]) {
        let path = folder.join(name);
        let parent = folder_of(&path);
        disk.make_folder(&parent).map_err(|error| cannot("make the folder", &parent, &error))?;
        disk.write_new(&path, bytes).map_err(|error| cannot("write", &path, &error))?;
        folders.extend(parent.ancestors().take_while(|parent| parent.starts_with(folder)).map(Path::to_path_buf));
    }
    folders.iter().try_for_each(|path| disk.sync_folder(path).map_err(|error| cannot("write", path, &error)))
}
