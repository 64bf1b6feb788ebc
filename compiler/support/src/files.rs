//! Reading files, with diagnostics.

use crate::{Diagnostic, Result, codes, units};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The prefix of the names of files and folders until they are whole and get their own names.
pub const UNFINISHED: &str = ".halite-";

/// Most links that lead from one to the next.
const LINKS: usize = 40;

/// The most bytes of a text, and of what another process hands over, 1 GiB.
const MOST: u64 = 1 << 30;

/// The bytes of a file.
///
/// # Errors
/// When it cannot be read, as when it is a pipe or a device, or has more bytes than memory.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_most(path, u64::MAX)
}

/// The bytes of a file that has no more than so many.
fn read_most(path: &Path, most: u64) -> Result<Vec<u8>> {
    let fault = |error| cannot("read", path, &error);
    let is_handed = is_handed_over(path);
    if !is_handed {
        require_file(path).map_err(fault)?;
    }
    let mut file = std::fs::File::open(path).map_err(fault)?;
    // A file that grows while it is read ends where it did.
    let size = file.metadata().map_err(fault)?.len();
    let most = if is_handed { most.min(MOST) } else { most };
    let too_many = |found: String| {
        let message = format!("`{}` has {found}, {} is the most", path.display(), units::bytes(most));
        Err(Diagnostic::error(codes::FILE, message).help("check that it is the right file"))
    };
    if size > most {
        return too_many(units::bytes(size));
    }
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
    reserved.map_err(|_| fault(io::ErrorKind::OutOfMemory.into()))?;
    let wanted = if is_handed { most + 1 } else { size };
    file.by_ref().take(wanted).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > most { too_many("more".to_owned()) } else { Ok(bytes) }
}

/// Whether a path is one by which a shell or a user hands over what another process writes, or nothing.
fn is_handed_over(path: &Path) -> bool {
    path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
        || ["/dev/stdin", "/dev/null"].iter().any(|own| path == Path::new(own))
}

/// Checks that a path leads to a file: a pipe may never end, a device has no end.
///
/// # Errors
/// Those of the system, and what is there instead.
pub fn require_file(path: &Path) -> io::Result<()> {
    let meta = std::fs::metadata(path)?;
    if meta.is_file() {
        return Ok(());
    }
    Err(if meta.is_dir() {
        io::ErrorKind::IsADirectory.into()
    } else {
        io::Error::other("it is a pipe or a device, expected a file")
    })
}

/// The text of a file, without the byte order mark that some editors put before it.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read_most(path, MOST)?;
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
    fn what_has_no_end_is_not_read() {
        for (path, message) in [
            ("/dev/zero", "cannot read `/dev/zero`: it is a pipe or a device, expected a file"),
            ("/dev", "cannot read `/dev`: is a directory"),
        ] {
            assert_eq!(read(Path::new(path)).unwrap_err().message(), message);
        }
        assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
        let folder = std::env::temp_dir().join(format!("halite-files-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("long");
        std::fs::File::create(&path).unwrap().set_len(MOST + 1).unwrap();
        let error = read_text(&path).unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(error.message().ends_with("long` has 1.0 GiB, 1.0 GiB is the most"), "{error}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("/none/x")).unwrap_err();
        assert_eq!(error.to_string(), "error[E0501]: cannot read `/none/x`: no such file or directory");
    }
}
