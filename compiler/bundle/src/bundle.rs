//! Bundles: the output of `compile` and the input of everything else.
//!
//! A bundle is a folder with a `manifest.json` and the files it names. In memory it is a [`Bundle`]; [`Bundle::write`]
//! puts the whole folder in place or nothing, [`Bundle::read`] accepts only what is exactly as the manifest says.

mod aside;
mod decompositions;
mod read;
mod schedule;
#[cfg(feature = "files")]
mod write;

pub use decompositions::{link as link_decompositions, sound as sound_hlo};
pub(crate) use read::check_buffers;
pub use read::{check_ports, contradiction};

use crate::manifest::lines;
use crate::{Buffer, Manifest, ManifestRules, ModuleEntry, ModuleRole};
#[cfg(feature = "files")]
use halite_disk::Disk;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// The name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";

/// The prefix of the names of dumps that are of all modules, before each role takes its part.
pub const MODEL_DUMPS: &str = "model";

/// The folder of the decompositions of kernels.
pub const DECOMPOSITIONS: &str = "decompositions";

/// The folder in which the modules of a bundle are compiled further. It is not part of the bundle: reading passes it by,
/// and writing the bundle again removes it, since what is in it would be that of other modules.
pub const NEFFS: &str = "neff";

/// A bundle in memory.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Bundle {
    /// The description of its contents, and of how to run them.
    pub manifest: Manifest,
    /// The other files by name, those of the modules and extra ones.
    pub files: IndexMap<String, Vec<u8>>,
}

impl Bundle {
    /// The bundle of a manifest and its files, kept elsewhere than in a folder. Files that the manifest does not name stay in
    /// it as extra ones.
    ///
    /// # Errors
    /// When the version is not ours, the manifest contradicts itself, a file that it names is missing or not the one that it
    /// describes, or a name leads out of the bundle.
    pub fn new(manifest: Manifest, files: IndexMap<String, Vec<u8>>, rules: &dyn ManifestRules) -> Result<Self> {
        read::check(&manifest, &files, rules)?;
        Ok(Self { manifest, files })
    }

    /// The bundle of a manifest and of the files that were made with it.
    pub fn assembled(manifest: Manifest, files: IndexMap<String, Vec<u8>>) -> Self {
        Self { manifest, files }
    }

    /// The manifest as it is written: stable order, in lines of 120 columns, a newline at the end.
    pub fn manifest_json(&self) -> String {
        lines::print(&self.manifest).expect("a manifest has no map with other keys than text")
    }

    /// Writes the bundle as the folder `folder`, whole or not at all. A bundle that is there is replaced in one step, or,
    /// where the file system has none, so that [`read`](Self::read) finds the old one or the new one at any time. A link to a
    /// folder stays.
    ///
    /// # Errors
    /// When something else is there, or the folder cannot be written.
    #[cfg(feature = "files")]
    pub fn write(&self, folder: &Path) -> Result<()> {
        write::write(&Disk::default(), self, folder)
    }

    /// Reads the bundle in `folder`. Of the files, only those of the modules and of their decompositions are read.
    ///
    /// # Errors
    /// When there is no bundle, its version or schema is not ours, or a file is not the one the manifest describes.
    pub fn read(folder: &Path, rules: &dyn ManifestRules) -> Result<Self> {
        read::read(&aside::located(folder), rules)
    }

    /// Whether [`read`](Self::read) finds a bundle of this name, sound or not.
    pub fn is_at(folder: &Path) -> bool {
        aside::located(folder).join(MANIFEST).is_file()
    }

    /// The module of this name.
    ///
    /// # Errors
    /// When there is none; the message lists those there are.
    pub fn module(&self, name: &str) -> Result<&ModuleEntry> {
        let found = self.manifest.modules.iter().find(|module| module.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.manifest.modules.iter().map(|module| module.name.as_str()).collect();
            Diagnostic::error(codes::MODULE, format!("the bundle has no module `{name}`"))
                .help(suggestion(name, &names))
        })
    }

    /// The first module with this role.
    ///
    /// # Errors
    /// When there is none.
    pub fn module_with_role(&self, role: &ModuleRole) -> Result<&ModuleEntry> {
        let mut found = self.manifest.modules.iter().filter(|module| module.role == *role);
        let (first, others) = (found.next(), found.count());
        if others > 0 {
            let message = format!("the role `{}` is {} modules of the stages of a pipeline", role.name(), others + 1);
            return Err(Diagnostic::error(codes::NOT_SUPPORTED, message)
                .help("compile the recipe with `parallel.pipeline = 1` to run that role alone"));
        }
        first.ok_or_else(|| without(role))
    }

    /// All modules with this role: one, or those of the stages of a pipeline.
    ///
    /// # Errors
    /// When there is none.
    pub fn modules_with_role(&self, role: &ModuleRole) -> Result<Vec<&ModuleEntry>> {
        let found: Vec<&ModuleEntry> = self.manifest.modules.iter().filter(|module| module.role == *role).collect();
        if found.is_empty() { Err(without(role)) } else { Ok(found) }
    }

    /// The HLO of a module.
    ///
    /// # Errors
    /// When the file is not in the bundle.
    pub fn hlo(&self, module: &ModuleEntry) -> Result<&[u8]> {
        self.file(&module.file, &module.name)
    }

    fn file(&self, file: &str, of: &str) -> Result<&[u8]> {
        self.files.get(file).map(Vec::as_slice).ok_or_else(|| {
            Diagnostic::error(codes::BUNDLE, format!("the bundle lacks the file `{file}` of `{of}`"))
                .help("compile the bundle again")
        })
    }

    /// The HLO of a module as any XLA runs it: kernels of the target are replaced by their decompositions.
    ///
    /// # Errors
    /// When a file is not in the bundle, is no sound HLO, or a kernel has no decomposition.
    pub fn runnable_hlo(&self, module: &ModuleEntry) -> Result<Cow<'_, [u8]>> {
        decompositions::link(self.hlo(module)?, &module.name, |name| {
            let missing =
                || Diagnostic::error(codes::BUNDLE, format!("the bundle has no decomposition of the kernel `{name}`"));
            let decomposition =
                module.decompositions.iter().find(|decomposition| decomposition.name == name).ok_or_else(missing)?;
            self.file(&decomposition.file, name)
        })
    }

    /// The buffer of this name, if there is one.
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.manifest.buffers.iter().find(|buffer| buffer.name == name)
    }
}

fn without(role: &ModuleRole) -> Diagnostic {
    Diagnostic::error(codes::MODULE, format!("the bundle has no module with the role `{}`", role.name()))
        .help(format!("compile it with `--role {}`", role.name()))
}

/// SHA-256 in lower-case hexadecimal, as manifests hold it.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests;
