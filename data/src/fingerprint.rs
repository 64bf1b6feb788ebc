//! What tells files from others, wherever they lie.

use halite_support::Result;
use halite_support::files::cannot;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How many bytes are looked at at either end of a file: all of it would take minutes.
const LOOKED_AT: u64 = 1 << 16;

/// The number of files, their bytes, and a hash of names, sizes, and what each begins and ends with.
pub(crate) fn of(paths: &[PathBuf]) -> Result<String> {
    let (mut hash, mut total) = (Sha256::new(), 0);
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (size, ends) = ends(path).map_err(|error| cannot("read", path, &error))?;
        total += size;
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(size.to_le_bytes());
        hash.update(ends);
    }
    Ok(format!("{} files of {total} bytes with ends of SHA-256 {}", paths.len(), hex(&hash.finalize())))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn ends(path: &Path) -> std::io::Result<(u64, Vec<u8>)> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut ends = Vec::new();
    file.by_ref().take(LOOKED_AT).read_to_end(&mut ends)?;
    file.seek(SeekFrom::Start(size.saturating_sub(LOOKED_AT)))?;
    file.take(LOOKED_AT).read_to_end(&mut ends)?;
    Ok((size, ends))
}
