//! The manifest of a checkpoint: `checkpoint.json`, which is written last and makes the files a checkpoint.

use halite_bundle::sha256;
use halite_disk::Disk;
use halite_support::files::{cannot, read_text};
use halite_support::{Diagnostic, Result, codes};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Name of the file that lists the files of a checkpoint.
pub(super) const NAME: &str = "checkpoint.json";

/// The format that this build reads and writes.
const VERSION: u32 = 1;

/// Size of the pieces in which a file is read, in bytes.
const PIECE: usize = 1 << 20;

/// The size and the checksum of a file of a checkpoint. The checksum is a SHA-256 as in bundles and records, so that one tool checks
/// them all; it is computed beside the updates, which do not wait for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSum {
    /// Size in bytes.
    bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    sha256: String,
}

impl FileSum {
    /// The size and the checksum of this content.
    pub(crate) fn of(content: &[u8]) -> Self {
        Self { bytes: content.len() as u64, sha256: sha256(content) }
    }

    /// Checks the size and the checksum of a file.
    ///
    /// # Errors
    /// With what is wrong about the file.
    fn check(&self, path: &Path) -> std::result::Result<(), String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let fault = |error: std::io::Error| format!("`{name}` cannot be read: {error}");
        let mut file = File::open(path).map_err(fault)?;
        let bytes = file.metadata().map_err(fault)?.len();
        if bytes != self.bytes {
            return Err(format!("`{name}` has {bytes} bytes, {} were written", self.bytes));
        }
        let (mut sum, mut piece) = (Sha256::new(), vec![0; PIECE]);
        loop {
            match file.read(&mut piece).map_err(fault)? {
                0 => break,
                count => sum.update(&piece[..count]),
            }
        }
        let found = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        if found == self.sha256 { Ok(()) } else { Err(format!("`{name}` does not have the bytes that were written")) }
    }
}

/// The content of `checkpoint.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    version: u32,
    /// Completed updates.
    update: u64,
    /// The files of the checkpoint, by name.
    pub(super) files: BTreeMap<String, FileSum>,
    /// The text that replaces the one in the file of the state, where it has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

impl Manifest {
    pub(super) fn new(update: u64, files: BTreeMap<String, FileSum>) -> Self {
        Self { version: VERSION, update, files, text: None }
    }

    /// The same with another text.
    pub(super) fn with_text(self, text: String) -> Self {
        Self { text: Some(text), ..self }
    }

    /// Puts it in its folder, whole and on the device.
    pub(super) fn write(&self, disk: &Disk, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|error| Diagnostic::bug(error.to_string()))?;
        halite_disk::write_on(disk, &folder.join(NAME), (text + "\n").as_bytes())
    }

    /// The manifest of the checkpoint of an update; its files are not looked at.
    ///
    /// # Errors
    /// When there is none, or not one of this version and update.
    pub(super) fn read(folder: &Path, update: u64) -> Result<Self> {
        let path = folder.join(NAME);
        if !path.exists() {
            return Err(broken(folder, &format!("it has no `{NAME}`, which is written last")));
        }
        let text = read_text(&path)?;
        let refuse = |error: serde_json::Error| broken(folder, &format!("`{NAME}` is not in its format: {error}"));
        let value: serde_json::Value = serde_json::from_str(&text).map_err(refuse)?;
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(VERSION) => {
                return Err(broken(folder, &format!("it has version {version}, this build reads version {VERSION}")));
            }
            _ => {}
        }
        let manifest: Self = serde_json::from_value(value).map_err(refuse)?;
        if manifest.update != update {
            return Err(broken(folder, &format!("`{NAME}` is of update {}", manifest.update)));
        }
        let leads_away = |name: &&String| Path::new(name.as_str()).file_name() != Some(name.as_ref());
        match manifest.files.keys().find(leads_away) {
            Some(name) => Err(broken(folder, &format!("it names `{name}`, which is not a file beside it"))),
            None => Ok(manifest),
        }
    }

    /// Checks the size and the checksum of every file.
    ///
    /// # Errors
    /// Of the first file that differs.
    pub(super) fn check(&self, folder: &Path) -> Result<()> {
        let check = |(name, sum): (&String, &FileSum)| sum.check(&folder.join(name));
        self.files.iter().try_for_each(check).map_err(|reason| broken(folder, &reason))
    }

    /// Whether every file is there in its size.
    pub(super) fn has_sizes(&self, folder: &Path) -> bool {
        let has_size = |(name, sum): (&String, &FileSum)| {
            std::fs::metadata(folder.join(name)).is_ok_and(|meta| meta.len() == sum.bytes)
        };
        self.files.iter().all(has_size)
    }
}

/// The error of a folder that is not a whole checkpoint.
fn broken(folder: &Path, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::CHECKPOINT, format!("`{}` is not a whole checkpoint: {reason}", folder.display()))
}

/// The error of a file of a checkpoint that cannot be changed.
pub(super) fn unchanged(action: &str, path: &Path) -> impl Fn(std::io::Error) -> Diagnostic {
    move |error| cannot(action, path, &error)
}
