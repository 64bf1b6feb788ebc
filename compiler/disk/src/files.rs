//! Writing files whole, with diagnostics.

use crate::{Destination, Disk, Unfinished};
use halite_support::Result;
use halite_support::files::{cannot, folder_of};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all; missing folders are made. A link stays, and what it leads to is written; a device or
/// a pipe stays too, and is written to.
///
/// # Errors
/// When it cannot be written, or a folder has that name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_on(&Disk::default(), path, bytes)
}

/// As [`write()`], on a certain disk.
///
/// # Errors
/// As [`write()`].
pub fn write_on(disk: &Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let fault = |error: std::io::Error| cannot("write", path, &error);
    match Destination::of(path).map_err(fault)? {
        Destination::File(file) => unfinished(disk, &file, bytes)?.finish().map_err(fault),
        _ => disk.write_through(path, bytes).map_err(fault),
    }
}

/// Writes the bytes that are to become the file at `place`, whole and on the device; missing folders are made.
///
/// # Errors
/// When it cannot be written, or a folder has that name.
pub fn unfinished(disk: &Disk, place: &Path, bytes: &[u8]) -> Result<Unfinished> {
    let fault = |error: std::io::Error| cannot("write", place, &error);
    make_folder_of(disk, place)?;
    if place.is_dir() {
        return Err(fault(std::io::ErrorKind::IsADirectory.into()));
    }
    let mut file = Unfinished::new(disk, place).map_err(fault)?;
    file.write(bytes).and_then(|()| file.sync()).map_err(fault)?;
    Ok(file)
}

/// Makes the folder that something of this path is to be in, and gives it.
///
/// # Errors
/// When it cannot be made, or nothing can have that name.
pub fn make_folder_of(disk: &Disk, path: &Path) -> Result<PathBuf> {
    disk.make_folder_of(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidFilename => cannot("write", path, &error),
        _ => cannot("make the folder", &folder_of(path), &error),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::assert_durable;
    use halite_support::files::read_text;

    #[test]
    fn files_are_on_the_device() {
        let folder = tempfile::tempdir().unwrap();
        assert_durable(|disk| write_on(disk, &folder.path().join("a/b.txt"), b"text").unwrap());
    }

    /// Folders are made for a file that can be there, and for no other.
    #[test]
    fn a_name_that_no_file_can_have_leaves_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(300);
        for (path, message) in [
            (format!("a/b/{long}"), format!("cannot write `{{}}/a/b/{long}`: file name too long")),
            (format!("a/{long}/b"), format!("cannot write `{{}}/a/{long}/b`: file name too long")),
        ] {
            let error = write(&folder.path().join(path), b"text").unwrap_err();
            assert_eq!(error.message(), message.replace("{}", folder.path().to_str().unwrap()));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        let error = Disk::default().make_folder(&folder.path().join("a/b").join(&long)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidFilename);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
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
}
