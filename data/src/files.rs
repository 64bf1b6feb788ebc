//! The files of a source.

use halite_disk::{Disk, Readable};
use halite_support::files::cannot;
use halite_support::{Diagnostic, Result, codes};
use std::path::{Path, PathBuf};

/// The folder that paths are seen from, and the disk of files.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) base: &'a Path,
    pub(crate) disk: &'a Disk,
}

/// A file of a source.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) path: PathBuf,
    pub(crate) disk: Disk,
}

impl Origin {
    pub(crate) fn open(&self) -> Result<Readable> {
        self.disk.open(&self.path).map_err(|error| cannot("read", &self.path, &error))
    }

    /// The file beside it whose name ends otherwise.
    pub(crate) fn with_extension(&self, extension: &str) -> Self {
        Self { path: self.path.with_extension(extension), ..self.clone() }
    }
}

impl Root<'_> {
    /// The files that patterns name, sorted; each once.
    pub(crate) fn find(self, patterns: &[String]) -> Result<Vec<Origin>> {
        let mut files = Vec::new();
        for pattern in patterns {
            files.extend(matches(pattern, self.base)?);
        }
        files.sort();
        files.dedup();
        Ok(files.into_iter().map(|path| Origin { path, disk: self.disk.clone() }).collect())
    }

    /// As [`find`](Self::find), where at least one holds something.
    pub(crate) fn find_with_content(self, patterns: &[String]) -> Result<Vec<Origin>> {
        let files = self.find(patterns)?;
        let has_content = |file: &Origin| file.path.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if files.iter().any(has_content) {
            return Ok(files);
        }
        let names: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
        Err(Diagnostic::error(codes::TEXT, format!("{} holds nothing", names.join(", "))).help("give files with text"))
    }
}

fn matches(pattern: &str, base: &Path) -> Result<Vec<PathBuf>> {
    // A name may hold what means something in patterns.
    let named = base.join(pattern);
    if named.is_file() {
        return Ok(vec![named]);
    }
    let escaped = glob::Pattern::escape(&base.to_string_lossy());
    let full = Path::new(&escaped).join(pattern);
    let paths = glob::glob(&full.to_string_lossy()).map_err(|error| {
        let message = format!("`{pattern}` is no pattern of files: {}", error.msg);
        Diagnostic::error(codes::RECIPE_RANGE, message).help("write a path, in which `*` stands for any part of a name")
    })?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| halite_support::files::cannot("read", error.path(), error.error()))?;
        if path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        let message = format!("no file matches `{pattern}` in `{}`", folder_in(base, pattern).display());
        return Err(Diagnostic::error(codes::FILE, message).help("check the path"));
    }
    Ok(files)
}

/// The folder that a pattern begins with, as seen from `base`.
fn folder_in(base: &Path, pattern: &str) -> PathBuf {
    let pattern = Path::new(pattern);
    let is_plain = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let plain: PathBuf = pattern.components().take_while(is_plain).collect();
    base.join(if plain == pattern { pattern.parent().unwrap_or(&plain) } else { &plain }).components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_from_their_base_and_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("a[b]");
        std::fs::create_dir(&base).unwrap();
        for name in ["2.txt", "1.txt", "x*.txt", "3.md"] {
            std::fs::write(base.join(name), "x").unwrap();
        }
        let found = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            let files = Root { base: &base, disk: &Disk::default() }.find(&patterns)?;
            Ok(files.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>())
        };
        let found = |patterns: &[&str]| -> Result<Vec<String>> { found(patterns) };
        assert_eq!(found(&["?.txt", "1.txt", "*.md"]).unwrap(), ["1.txt", "2.txt", "3.md"]);
        assert_eq!(found(&["x*.txt"]).unwrap(), ["x*.txt"]);
        let error = found(&["*.jsonl"]).unwrap_err();
        assert_eq!(error.message(), format!("no file matches `*.jsonl` in `{}`", base.display()));
        let error = found(&["none.txt"]).unwrap_err();
        assert_eq!(error.message(), format!("no file matches `none.txt` in `{}`", base.display()));
        assert!(found(&["a**"]).unwrap_err().message().starts_with("`a**` is no pattern of files"));
    }
}
