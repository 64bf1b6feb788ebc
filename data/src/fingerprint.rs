//! Fingerprints that tell files from others, wherever they lie.

use crate::files::Origin;
use halite_support::Result;
use halite_support::files::cannot;
use sha2::{Digest, Sha256};
use std::io::Read;

/// The number of bytes that are looked at at either end of a file: all of it would take minutes.
const LOOKED_AT: u64 = 1 << 16;

/// The number of files, their bytes, and a hash of names, sizes, and the first and last bytes of each.
pub(crate) fn of(files: &[Origin]) -> Result<String> {
    let (mut hash, mut total) = (Sha256::new(), 0);
    for file in files {
        let path = &file.path;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (size, ends) = ends(file).map_err(|error| cannot("read", path, &error))?;
        total += size;
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(size.to_le_bytes());
        hash.update(ends);
    }
    Ok(format!("{} files of {total} bytes with ends of SHA-256 {}", files.len(), hex(&hash.finalize())))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn ends(file: &Origin) -> std::io::Result<(u64, Vec<u8>)> {
    let file = file.disk.open(&file.path)?;
    let size = file.size()?;
    let mut ends = Vec::new();
    file.clone().take(LOOKED_AT).read_to_end(&mut ends)?;
    file.at(size.saturating_sub(LOOKED_AT)).take(LOOKED_AT).read_to_end(&mut ends)?;
    Ok((size, ends))
}
