//! Reading files, with diagnostics.

use crate::{Diagnostic, Result, codes};
use std::io;
use std::path::{Path, PathBuf};

/// What the names of files and folders begin with until they are whole and get their own.
pub const UNFINISHED: &str = ".halite-";

/// Most links that lead from one to the next.
const LINKS: usize = 40;

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

/// The name of a file without its extension.
pub fn stem(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
}

/// "cannot `action` `path`" with the system's reason.
pub fn cannot(action: &str, path: &Path, error: &std::io::Error) -> Diagnostic {
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

/// The folder a path lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The path at the end of links that lead to nothing yet; the path itself when it is no link.
///
/// # Errors
/// When the links go in a circle.
pub fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(next) = path.read_link() else { return Ok(path) };
        path = folder_of(&path).join(next);
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("/none/x")).unwrap_err();
        assert_eq!(error.to_string(), "error[E0501]: cannot read `/none/x`: no such file or directory");
    }
}
