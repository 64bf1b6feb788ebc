//! Finds libnrt.

use super::error::NrtError;
use crate::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable that names the library, or its folder.
pub const NRT_VARIABLE: &str = "HALITE_NRT";

/// The folder in which the package `aws-neuronx-runtime-lib` puts the library (troubleshooting guide of `nrtpy`).
pub const NRT_FOLDER: &str = "/opt/aws/neuron/lib";

/// The name of the library in its folder: `libnrt.so.1`, as the same guide and libfabric's test of Neuron memory have it.
const FILE: &str = "libnrt.so.1";

/// The library to open: `explicit` when given, else what [`NRT_VARIABLE`] names, else the one in [`NRT_FOLDER`]. Each may be the file
/// or its folder. A place that is named but empty is an error, not a reason to look further.
///
/// # Errors
/// [`NrtError::NotFound`], which says where it was looked for.
pub fn find_nrt(explicit: Option<&Path>) -> Result<PathBuf> {
    find(explicit, std::env::var_os(NRT_VARIABLE))
}

fn find(explicit: Option<&Path>, variable: Option<OsString>) -> Result<PathBuf> {
    let named = variable.filter(|path| !path.is_empty());
    let (place, origin) = match (explicit, named) {
        (Some(place), _) => (place.to_path_buf(), String::new()),
        (None, Some(place)) => (place.into(), format!(", which `{NRT_VARIABLE}` names,")),
        (None, None) => (NRT_FOLDER.into(), String::new()),
    };
    let path = if place.is_dir() { place.join(FILE) } else { place };
    if path.is_file() {
        return Ok(path);
    }
    Err(NrtError::NotFound(format!("`{}`{origin} is not a file", path.display())).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_named_place_wins_and_may_be_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        std::fs::write(&file, "").unwrap();
        assert_eq!(find(Some(&file), Some("/none".into())).unwrap(), file);
        assert_eq!(find(Some(folder.path()), None).unwrap(), file);
        assert_eq!(find(None, Some(folder.path().into())).unwrap(), file);
    }

    #[test]
    fn an_empty_place_is_named() {
        let text = |explicit: Option<&str>, variable: &str| {
            find(explicit.map(Path::new), Some(variable.into())).unwrap_err().to_string()
        };
        assert_eq!(text(Some("/no.so"), "/other"), "no libnrt: `/no.so` is not a file");
        assert_eq!(text(None, "/no.so"), "no libnrt: `/no.so`, which `HALITE_NRT` names, is not a file");
        assert!(text(None, "").contains(NRT_FOLDER));
    }
}
