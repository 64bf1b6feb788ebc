//! NEFFs: the output of a target's compiler for the modules of a bundle, and the record of the inputs that it was made from.

use crate::{Bundle, Manifest, ModuleEntry, NEFFS, contradiction, sha256};
use halite_recipe::TargetName;
use halite_support::{Diagnostic, Result, codes, files};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The record beside a NEFF, as `<module>.json`: the inputs that it was made from, and the checksum of the file.
///
/// A NEFF says nothing of that by itself. Two programs with the same inputs and outputs, such as those of two learning rates, are told
/// apart by the record alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeffRecord {
    /// SHA-256 of the file with the HLO of the module, in hex, as in the manifest.
    pub hlo: String,
    /// The target of the recipe.
    pub target: TargetName,
    /// The flags of the manifest.
    pub flags: Vec<String>,
    /// The version of the compiler, as it prints it.
    pub compiler: String,
    /// SHA-256 of the NEFF, in hex.
    pub neff: String,
}

impl NeffRecord {
    /// The record of a module of a bundle, for a NEFF with this sum by a compiler of this version.
    pub fn new(manifest: &Manifest, entry: &ModuleEntry, compiler: &str, neff: &str) -> Self {
        Self {
            hlo: entry.sha256.clone(),
            target: manifest.recipe.target.clone(),
            flags: manifest.flags.clone(),
            compiler: compiler.to_owned(),
            neff: neff.to_owned(),
        }
    }

    /// The record as it is written.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a record has no map");
        text + "\n"
    }

    /// The difference between the record and a NEFF with its module, in words; `None` where there is none.
    fn differs(&self, manifest: &Manifest, entry: &ModuleEntry, neff: &[u8]) -> Option<String> {
        let wanted = Self::new(manifest, entry, &self.compiler, &sha256(neff));
        if self.target != wanted.target {
            return Some(format!("it was compiled for `{}`, the bundle is for `{}`", self.target, wanted.target));
        }
        if self.hlo != wanted.hlo {
            return Some(
                "it was made of other HLO: that of another bundle, or of this one before it was compiled again".into(),
            );
        }
        if self.flags != wanted.flags {
            return Some("it was compiled with other flags than the manifest states".into());
        }
        (self.neff != wanted.neff).then(|| "the file is not the one that the compiler left".into())
    }
}

impl Bundle {
    /// Adds the NEFFs that the compiler of the target has made of the modules, and their records, from [`NEFFS`] below `folder`, as
    /// far as they are there. Reading a bundle leaves them out, since they are large and most who read it do not run them.
    ///
    /// # Errors
    /// When a file cannot be read, or the name of a module cannot be that of a file.
    pub fn read_neffs(&mut self, folder: &Path) -> Result<()> {
        for module in &self.manifest.modules {
            if module.name.starts_with('.') || module.name.contains(['/', '\0']) {
                return Err(contradiction(&format!("the module `{}` cannot name a file", module.name.escape_debug())));
            }
            for name in [file(module, "neff"), file(module, "json")] {
                let path = folder.join(&name);
                if path.is_file() {
                    self.files.insert(name, files::read(&path)?);
                }
            }
        }
        Ok(())
    }

    /// The NEFF of a module, once its record shows that it is that of this module.
    ///
    /// # Errors
    /// When there is none, or its record says that it is another's or is not there.
    pub fn neff(&self, entry: &ModuleEntry) -> Result<&[u8]> {
        let unfit = |what: String| Diagnostic::error(codes::NEFF_UNFIT, what);
        let of = &entry.name;
        let Some(neff) = self.files.get(&file(entry, "neff")) else {
            return Err(
                unfit(format!("the module `{of}` has no NEFF")).note(format!("it would be `{}`", file(entry, "neff")))
            );
        };
        let Some(record) = self.files.get(&file(entry, "json")) else {
            let note = format!("`{}` would say of what", file(entry, "json"));
            return Err(unfit(format!("nothing says of what the NEFF of `{of}` was made")).note(note));
        };
        let record: NeffRecord = serde_json::from_slice(record)
            .map_err(|error| unfit(format!("`{}` is no record of a NEFF: {error}", file(entry, "json"))))?;
        match record.differs(&self.manifest, entry, neff) {
            None => Ok(neff),
            Some(reason) => Err(unfit(format!("the NEFF of `{of}` is not that of this bundle: {reason}"))),
        }
    }
}

/// The name of a file that a compiler leaves of a module, below the folder of the bundle.
fn file(module: &ModuleEntry, ending: &str) -> String {
    format!("{NEFFS}/{}.{ending}", module.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::small;

    /// The message with which the NEFF of the first module is refused, after its record was changed.
    fn refused(change: impl FnOnce(&mut NeffRecord)) -> Option<String> {
        let mut bundle = small();
        let entry = bundle.manifest.modules[0].clone();
        let mut record = NeffRecord::new(&bundle.manifest, &entry, "1.0", &sha256(b"neff"));
        change(&mut record);
        bundle.files.insert(file(&entry, "neff"), b"neff".to_vec());
        bundle.files.insert(file(&entry, "json"), record.to_json().into_bytes());
        bundle.neff(&entry).err().map(|error| error.message().to_owned())
    }

    #[test]
    fn a_neff_is_held_to_its_record() {
        assert_eq!(refused(|_| {}), None);
        let with = |change: fn(&mut NeffRecord)| refused(change).unwrap();
        assert!(with(|record| record.hlo = sha256(b"other")).contains("other HLO"));
        assert!(with(|record| record.flags.push("--lnc=2".into())).contains("other flags"));
        assert!(with(|record| record.neff = sha256(b"other")).contains("not the one that the compiler left"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut bundle = small();
        let entry = bundle.manifest.modules[0].clone();
        assert!(bundle.neff(&entry).unwrap_err().message().contains("has no NEFF"));
        bundle.files.insert(file(&entry, "neff"), b"neff".to_vec());
        assert!(bundle.neff(&entry).unwrap_err().message().contains("nothing says of what"));
        bundle.files.insert(file(&entry, "json"), b"{}".to_vec());
        assert!(bundle.neff(&entry).unwrap_err().message().contains("no record"));
    }

    #[test]
    fn names_do_not_lead_out_of_the_folder() {
        let mut bundle = small();
        bundle.manifest.modules[0].name = "../out".into();
        assert!(bundle.read_neffs(Path::new("nowhere")).is_err());
    }
}
