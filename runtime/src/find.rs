//! Finds the PJRT plugin.

use crate::{Result, RuntimeError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable that names a plugin file.
pub const PLUGIN_VARIABLE: &str = "HALITE_PJRT_PLUGIN";

/// The plugin to open: `explicit` when given, else the file that [`PLUGIN_VARIABLE`] names, else the one at
/// [`plugin_path`]. A place that is named but empty is an error, not a reason to look further.
///
/// # Errors
/// [`RuntimeError::PluginNotFound`], which says where it was looked for.
pub fn find_plugin(explicit: Option<&Path>) -> Result<PathBuf> {
    find(explicit, &|name| std::env::var_os(name))
}

/// The path at which [`install`](crate::install::install) puts the plugin unless told otherwise:
/// `halite/plugins/xla-cpu-pjrt-0.0.1/xla_cpu_pjrt.so` in `$XDG_CACHE_HOME` or `~/.cache`.
///
/// # Errors
/// [`RuntimeError::PluginNotFound`] when neither variable tells the cache folder.
pub fn plugin_path() -> Result<PathBuf> {
    cached(&|name| std::env::var_os(name))
}

type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

fn find(explicit: Option<&Path>, environment: Environment<'_>) -> Result<PathBuf> {
    let named = environment(PLUGIN_VARIABLE).filter(|path| !path.is_empty());
    let (path, origin) = match (explicit, named) {
        (Some(path), _) => (path.to_path_buf(), String::new()),
        (None, Some(path)) => (path.into(), format!(", which `{PLUGIN_VARIABLE}` names,")),
        (None, None) => (cached(environment)?, String::new()),
    };
    if path.is_file() {
        return Ok(path);
    }
    Err(RuntimeError::PluginNotFound(format!("`{}`{origin} is not a file", path.display())))
}

fn cached(environment: Environment<'_>) -> Result<PathBuf> {
    let folder = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    let missing = || RuntimeError::PluginNotFound("neither `XDG_CACHE_HOME` nor `HOME` names a folder".into());
    Ok(cache.ok_or_else(missing)?.join("halite/plugins/xla-cpu-pjrt-0.0.1/xla_cpu_pjrt.so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(explicit: Option<&str>, variables: &[(&str, &str)]) -> Result<PathBuf> {
        let value = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        find(explicit.map(Path::new), &value)
    }

    #[test]
    fn the_nearest_named_place_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plugin.so");
        std::fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(look(Some(file), &[(PLUGIN_VARIABLE, "/none")]).unwrap(), Path::new(file));
        assert_eq!(look(None, &[(PLUGIN_VARIABLE, file)]).unwrap(), Path::new(file));
    }

    #[test]
    fn an_empty_place_is_named() {
        let text = |explicit, variables: &[_]| look(explicit, variables).unwrap_err().to_string();
        let variable = (PLUGIN_VARIABLE, "/none.so");
        assert_eq!(text(Some("/no.so"), &[variable]), "no PJRT plugin: `/no.so` is not a file");
        assert_eq!(
            text(None, &[variable]),
            "no PJRT plugin: `/none.so`, which `HALITE_PJRT_PLUGIN` names, is not a file"
        );
        let cached = "/h/.cache/halite/plugins/xla-cpu-pjrt-0.0.1/xla_cpu_pjrt.so";
        assert!(text(None, &[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]).contains(cached));
        assert!(text(None, &[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]).contains("`/c/halite/"));
        assert!(text(None, &[]).contains("`HOME`"));
    }
}
