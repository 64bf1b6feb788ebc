//! Reading and writing files, with diagnostics.

use halite_support::{Diagnostic, Result, codes};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What the names of files and folders begin with until they are whole and get their own.
pub(crate) const UNFINISHED: &str = ".halite-";

/// The bytes of a file.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| cannot("read", path, &error))
}

/// The text of a file, without the byte order mark that some editors put before it.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read(path)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).map(<[u8]>::to_vec).unwrap_or(bytes);
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::error(codes::FILE, format!("`{}` is not a text: byte {at} is not UTF-8", path.display()))
            .help("save it as text in UTF-8, or give another file")
    })
}

/// Writes a file whole or not at all; missing folders are made.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Unfinished::new(path, bytes)?.finish()
}

/// A file that is whole and does not have its name yet. Dropped without it, it is gone.
pub(crate) struct Unfinished {
    file: NamedTempFile,
    path: PathBuf,
}

impl Unfinished {
    /// Writes what is to become the file at `path`; missing folders are made.
    ///
    /// # Errors
    /// When it cannot be written, or a folder has that name.
    pub(crate) fn new(path: &Path, bytes: &[u8]) -> Result<Self> {
        let folder = folder_of(path);
        std::fs::create_dir_all(&folder).map_err(|error| cannot("make the folder", &folder, &error))?;
        if path.is_dir() {
            return Err(cannot("write", path, &std::io::ErrorKind::IsADirectory.into()));
        }
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(permissions())
            .tempfile_in(&folder)
            .map_err(|error| cannot("write", path, &error))?;
        file.write_all(bytes).map_err(|error| cannot("write", path, &error))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Gives it its name, in place of the file that has it.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn finish(self) -> Result<()> {
        self.file.persist(&self.path).map_err(|error| cannot("write", &self.path, &error.error))?;
        Ok(())
    }

    /// Gives files their names in this order. Where one cannot get its own, none of them stays.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub(crate) fn finish_all(files: Vec<Self>) -> Result<()> {
        let mut finished: Vec<PathBuf> = Vec::new();
        for file in files {
            let path = file.path.clone();
            if let Err(error) = file.finish() {
                finished.iter().try_for_each(|path| remove(path))?;
                return Err(error);
            }
            finished.push(path);
        }
        Ok(())
    }
}

/// Removes a file, if there is one.
///
/// # Errors
/// When it cannot be removed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot("remove", path, &error)),
        _ => Ok(()),
    }
}

/// The folder a path lies in; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The name of a file without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// "cannot `action` `path`" with the system's reason.
pub(crate) fn cannot(action: &str, path: &Path, error: &std::io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::FILE, format!("cannot {action} `{}`: {}", path.display(), reason(error)));
    match error.kind() {
        std::io::ErrorKind::NotFound => diagnostic.help("check the path"),
        std::io::ErrorKind::IsADirectory => diagnostic.help("name a file, not a folder"),
        std::io::ErrorKind::NotADirectory | std::io::ErrorKind::AlreadyExists => {
            diagnostic.help("choose another place: a file is in the way")
        }
        std::io::ErrorKind::PermissionDenied => diagnostic.help("check the permissions or choose another place"),
        _ => diagnostic,
    }
}

/// The system's words in our style: lower case, without the number of the error.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}

/// What a file gets that the user makes, the mask of the process applied.
#[cfg(unix)]
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read_text(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn several_files_get_their_names_or_none_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = || ["a", "b"].map(|name| Unfinished::new(&path(name), name.as_bytes()).unwrap()).into();
        Unfinished::finish_all(files()).unwrap();
        assert_eq!(read_text(&path("b")).unwrap(), "b");
        let again = files();
        remove(&path("b")).unwrap();
        std::fs::create_dir(path("b")).unwrap();
        Unfinished::finish_all(again).unwrap_err();
        assert!(Unfinished::new(&path("b"), b"b").is_err());
        let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("/none/x")).unwrap_err();
        assert_eq!(error.to_string(), "error[E0501]: cannot read `/none/x`: no such file or directory");
    }
}
