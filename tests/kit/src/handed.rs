//! Modules that are handed to XLA as StableHLO, kept for `tests/jax/compare_converter.py`.

use halite_bundle::sha256;
use std::path::PathBuf;

/// The environment variable with the folder that they are kept in.
const FOLDER: &str = "HALITE_STABLEHLO";

/// Writes HLO and the text of it to the folder that `HALITE_STABLEHLO` names, where it names one. Equal modules are one.
///
/// # Panics
/// When that cannot be done.
pub(crate) fn keep(hlo: &[u8], text: &str) {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let name = &sha256(hlo)[..16];
    let write = |extension: &str, bytes: &[u8]| std::fs::write(folder.join(format!("{name}.{extension}")), bytes);
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| write("hlo.pb", hlo))
        .and_then(|()| write("mlir", text.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
}
