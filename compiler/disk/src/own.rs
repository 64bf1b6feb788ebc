//! Places in a folder that is ours: what is written there is no name for something elsewhere.

use halite_support::{Diagnostic, Result, codes};
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The kind of thing that is to be at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Own {
    /// A file.
    File,
    /// A folder.
    Folder,
}

impl Own {
    /// Checks that there is nothing at a place, or what we would have made: no link, which leads elsewhere, no pipe and no device.
    ///
    /// # Errors
    /// With what is there.
    pub fn check(self, path: &Path) -> Result<()> {
        let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
        let (is_own, wanted) = match self {
            Self::File => (meta.is_file(), "file"),
            Self::Folder => (meta.is_dir(), "folder"),
        };
        if is_own {
            return Ok(());
        }
        let found = kind(meta.file_type());
        let leads = path.read_link().map_or_else(|_| String::new(), |to| format!(" to `{}`", to.display()));
        let message =
            format!("cannot write `{}`: it is a {found}{leads}, expected a {wanted} of our own", path.display());
        Err(Diagnostic::error(codes::FILE, message).help("remove it, or choose another folder"))
    }
}

/// The name of the kind of a file system entry.
pub(crate) fn kind(found: FileType) -> &'static str {
    match found {
        found if found.is_symlink() => "link",
        found if found.is_dir() => "folder",
        found if found.is_fifo() => "pipe",
        found if found.is_socket() => "socket",
        found if found.is_char_device() || found.is_block_device() => "device",
        _ => "file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_leads_elsewhere_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        symlink("file", path("link")).unwrap();
        symlink("folder", path("door")).unwrap();
        symlink("nothing", path("loose")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for (own, names) in [(Own::File, ["none", "file"]), (Own::Folder, ["none", "folder"])] {
            names.iter().for_each(|name| own.check(&path(name)).unwrap());
        }
        for (own, name, found) in [
            (Own::File, "link", "a link to `file`, expected a file"),
            (Own::File, "loose", "a link to `nothing`, expected a file"),
            (Own::File, "pipe", "a pipe, expected a file"),
            (Own::File, "folder", "a folder, expected a file"),
            (Own::Folder, "door", "a link to `folder`, expected a folder"),
            (Own::Folder, "file", "a file, expected a folder"),
        ] {
            let error = own.check(&path(name)).unwrap_err();
            assert!(error.message().contains(found), "{error}");
        }
    }
}
