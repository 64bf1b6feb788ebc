//! Reading and writing files, with diagnostics.

use halite_runtime::disk::{Disk, Place, Unfinished};
use halite_support::{Diagnostic, Result, codes};
use std::path::Path;

pub(crate) use halite_runtime::disk::{UNFINISHED, folder_of};

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

/// Writes a file whole or not at all; missing folders are made. A link stays, and what it leads to is written; a device or
/// a pipe stays too, and is written to.
///
/// # Errors
/// When it cannot be written, or a folder has that name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_on(&Disk::default(), path, bytes)
}

/// As [`write`], on a certain disk.
///
/// # Errors
/// As [`write`].
pub(crate) fn write_on(disk: &Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let fault = |error: std::io::Error| cannot("write", path, &error);
    match Place::of(path).map_err(fault)? {
        Place::File(place) => unfinished(disk, &place, bytes)?.finish().map_err(fault),
        _ => disk.write_through(path, bytes).map_err(fault),
    }
}

/// What is to become the file at `place`, whole and on the device; missing folders are made.
///
/// # Errors
/// When it cannot be written, or a folder has that name.
pub(crate) fn unfinished(disk: &Disk, place: &Path, bytes: &[u8]) -> Result<Unfinished> {
    let fault = |error: std::io::Error| cannot("write", place, &error);
    let folder = folder_of(place);
    disk.make_folder(&folder).map_err(|error| cannot("make the folder", &folder, &error))?;
    if place.is_dir() {
        return Err(fault(std::io::ErrorKind::IsADirectory.into()));
    }
    let mut file = Unfinished::new(disk, place).map_err(fault)?;
    file.write(bytes).and_then(|()| file.sync()).map_err(fault)?;
    Ok(file)
}

/// The name of a file without its extension.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use halite_runtime::disk::{Call, Fate};
    use std::sync::{Arc, Mutex};

    /// Checks that what `write` does is on the device in the end: content before it gets its name, names thereafter.
    pub(crate) fn assert_durable(write: impl FnOnce(&Disk)) {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let log = calls.clone();
        write(&Disk::planned(move |_, call| {
            log.lock().unwrap().push(call);
            Fate::Done
        }));
        let calls = calls.lock().unwrap();
        let last = |wanted: &[Call]| calls.iter().rposition(|call| wanted.contains(call)).unwrap();
        assert!(last(&[Call::SyncFolder]) > last(&[Call::Rename, Call::Exchange, Call::Create]), "{calls:?}");
        let (mut written, mut synced) = (0, 0);
        for call in calls.iter() {
            match call {
                Call::Write => written += 1,
                Call::Sync => synced += 1,
                Call::Rename | Call::Exchange => assert_eq!(written, synced, "{calls:?}"),
                _ => {}
            }
        }
        assert!(written > 0);
    }

    #[test]
    fn files_are_on_the_device() {
        let folder = tempfile::tempdir().unwrap();
        assert_durable(|disk| write_on(disk, &folder.path().join("a/b.txt"), b"text").unwrap());
    }

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
    fn links_and_pipes_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("far")).unwrap();
        symlink("far/link", path("link")).unwrap();
        symlink("file", path("far/link")).unwrap();
        for text in ["new", "newer"] {
            write(&path("link"), text.as_bytes()).unwrap();
            assert!(path("link").is_symlink() && path("far/link").is_symlink());
            assert_eq!(read_text(&path("far/file")).unwrap(), text);
        }
        symlink("circle", path("circle")).unwrap();
        write(&path("circle"), b"x").unwrap_err();
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        assert!(made.success());
        let (pipe, bytes) = (path("pipe"), vec![7; 100_000]);
        let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap());
        write(&path("pipe"), &bytes).unwrap();
        // A reader that found no pipe in its place would not see the end.
        assert!(std::fs::metadata(path("pipe")).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), bytes);
        for (name, device) in [("null", "/dev/null"), ("full", "/dev/full")] {
            symlink(device, path(name)).unwrap();
        }
        write(&path("null"), b"x").unwrap();
        let error = write(&path("full"), b"x").unwrap_err();
        assert!(error.message().ends_with("/full`: no space left on device"), "{error}");
        for name in ["null", "full"] {
            assert!(path(name).is_symlink() && path(name).metadata().unwrap().file_type().is_char_device());
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("/none/x")).unwrap_err();
        assert_eq!(error.to_string(), "error[E0501]: cannot read `/none/x`: no such file or directory");
    }
}
