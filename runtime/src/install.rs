//! Fetching the CPU plugin: the OpenXLA authors' package `xla-cpu-pjrt` from the Python package index, through `pip`.

use crate::{Result, RuntimeError, find::plugin_path};
use halite_disk::{Disk, Scratch, Unfinished};
use halite_support::files::{end_of_links, folder_of, require_file};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package and the version that this build was tested with.
pub const PACKAGE: &str = "xla-cpu-pjrt==0.0.1";

/// The plugin's place in the wheel.
const MEMBER: &str = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";

/// The most bytes that are read of a wheel; that of the package has 60 MB.
const MAX_WHEEL: u64 = 1 << 30;

/// A wheel of [`PACKAGE`].
struct Wheel {
    /// Architecture as Rust names it.
    arch: &'static str,
    /// Platform tag as `pip` names it.
    platform: &'static str,
    /// SHA-256 of the wheel, in hexadecimal.
    sha256: &'static str,
}

const WHEELS: [Wheel; 2] = [
    Wheel {
        arch: "x86_64",
        platform: "manylinux_2_27_x86_64",
        sha256: "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
    },
    Wheel {
        arch: "aarch64",
        platform: "manylinux_2_27_aarch64",
        sha256: "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
    },
];

/// Options of an installation.
#[derive(Clone, Debug)]
pub struct InstallOptions {
    /// The path of the plugin; `None` for [`plugin_path`].
    pub destination: Option<PathBuf>,
    /// A wheel that is already here; `None` to download it.
    pub wheel: Option<PathBuf>,
    /// The Python that has `pip`.
    pub python: OsString,
}

impl Default for InstallOptions {
    /// Download with `python3` to the default place.
    fn default() -> Self {
        Self { destination: None, wheel: None, python: "python3".into() }
    }
}

/// The progress of an installation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Progress {
    /// `pip` fetches the wheel, about 60 MB.
    Download,
    /// The wheel's checksum is computed.
    Check,
    /// The plugin is unpacked.
    Unpack {
        /// Bytes written.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
}

/// Installs the plugin and returns where it is. A plugin that is already there is replaced.
///
/// # Errors
/// [`RuntimeError::Install`] when there is no wheel for this machine, Python or `pip` fails, the checksum is not the
/// pinned one, or a file cannot be written. Nothing is left behind then.
pub fn install(options: &InstallOptions, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
    let destination = options.destination.clone().map_or_else(plugin_path, Ok)?;
    let wheel = wheel_for(std::env::consts::OS, std::env::consts::ARCH)?;
    let disk = Disk::default();
    match &options.wheel {
        Some(archive) => put(&disk, archive, wheel.sha256, &destination, progress)?,
        None => {
            progress(Progress::Download);
            let folder = folder_of(&destination);
            let scratch = Scratch::new(&disk, &folder).map_err(at("write to", &folder))?;
            let archive = download(&options.python, wheel, scratch.path())?;
            put(&disk, &archive, wheel.sha256, &destination, progress)?;
        }
    }
    Ok(destination)
}

/// Puts the plugin of a wheel in its place, or at the end of the link that is there.
fn put(
    disk: &Disk,
    archive: &Path,
    sha256: &str,
    destination: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    progress(Progress::Check);
    let place = end_of_links(destination).map_err(at("write", destination))?;
    let checked = checked(archive, sha256)?;
    let mut plugin = Unfinished::new(disk, &place).map_err(at("write", &place))?;
    unpack(checked, archive, &mut plugin, progress)?;
    plugin.finish().map_err(at("write", &place))
}

fn wheel_for(os: &str, arch: &str) -> Result<&'static Wheel> {
    let wheel = WHEELS.iter().find(|wheel| os == "linux" && wheel.arch == arch);
    wheel.ok_or_else(|| {
        failed(format!("`{PACKAGE}` has no wheel for {os} on {arch}, only for Linux on x86_64 and aarch64"))
    })
}

/// `pip`, which ends when its standard input does: with us, however that is.
const WITH_US: &str = "\
import os, runpy, sys, threading
def watch():
    while os.read(0, 4096):
        pass
    os._exit(1)
threading.Thread(target=watch, daemon=True).start()
sys.argv[0] = 'pip'
runpy.run_module('pip', run_name='__main__', alter_sys=True)
";

/// The number of bytes that are kept of the output of `pip`.
const SAID: usize = 1 << 13;

/// The end of what is read.
fn end(mut from: impl Read) -> io::Result<Vec<u8>> {
    let (mut kept, mut piece) = (Vec::new(), [0; SAID]);
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(kept),
            count => kept.extend_from_slice(&piece[..count]),
        }
        kept.drain(..kept.len().saturating_sub(SAID));
    }
}

fn download(python: &OsString, wheel: &Wheel, folder: &Path) -> Result<PathBuf> {
    let python_name = Path::new(python).display();
    let fault = |error| failed(format!("cannot run `{python_name}`, which has to fetch the package: {error}"));
    let mut child = Command::new(python)
        // By itself, Python runs what lies in the current folder by the name of a module.
        .args(["-I", "-c", WITH_US])
        .args(["download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"])
        .args(["--only-binary=:all:", "--platform", wheel.platform, "--dest"])
        .arg(folder)
        .arg(PACKAGE)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fault)?;
    // Open until the child has ended; `wait` would close it.
    let held = child.stdin.take();
    let said = child.stderr.take().map_or_else(|| Ok(Vec::new()), end).map_err(fault)?;
    let status = child.wait().map_err(fault)?;
    drop(held);
    if !status.success() {
        let text = String::from_utf8_lossy(&said);
        return Err(failed(format!("`{python_name} -m pip download {PACKAGE}` failed: {}", text.trim())));
    }
    let entries = std::fs::read_dir(folder).map_err(at("read", folder))?;
    let mut paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let found = paths.find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    found.ok_or_else(|| failed(format!("`{python_name} -m pip download {PACKAGE}` left no wheel")))
}

/// The content of a wheel in a file without a name, which nobody else can change: what is unpacked is what was checked.
fn checked(archive: &Path, expected: &str) -> Result<File> {
    require_file(archive).map_err(at("read", archive))?;
    let mut source = File::open(archive).map_err(at("read", archive))?.take(MAX_WHEEL);
    let mut copied = tempfile::tempfile().map_err(at("write to", &std::env::temp_dir()))?;
    let mut hasher = Sha256::new();
    copy(&mut source, |chunk| {
        hasher.update(chunk);
        copied.write_all(chunk)
    })
    .and_then(|()| copied.rewind())
    .map_err(at("read", archive))?;
    let mut found = String::with_capacity(expected.len());
    for byte in hasher.finalize() {
        write!(found, "{byte:02x}").expect("writing to a string cannot fail");
    }
    if found == expected {
        return Ok(copied);
    }
    Err(failed(format!("`{}` has SHA-256 {found}, expected {expected}", archive.display())))
}

fn unpack(checked: File, archive: &Path, plugin: &mut Unfinished, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    let bad = |error: zip::result::ZipError| failed(format!("cannot unpack `{}`: {error}", archive.display()));
    let mut wheel = zip::ZipArchive::new(checked).map_err(bad)?;
    let mut member = wheel.by_name(MEMBER).map_err(bad)?;
    let (mut done, total) = (0, member.size());
    let place = plugin.place().to_path_buf();
    copy(&mut member, |chunk| {
        plugin.write(chunk)?;
        done += chunk.len() as u64;
        progress(Progress::Unpack { done, total });
        Ok(())
    })
    .map_err(at("write", &place))
}

/// Hands over all of `source` in chunks of a megabyte.
fn copy(source: &mut dyn Read, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut chunk = vec![0; 1 << 20];
    loop {
        match source.read(&mut chunk)? {
            0 => return Ok(()),
            length => sink(&chunk[..length])?,
        }
    }
}

fn failed(reason: impl Into<String>) -> RuntimeError {
    RuntimeError::Install(reason.into())
}

fn at(what: &str, path: &Path) -> impl FnOnce(io::Error) -> RuntimeError {
    move |error| failed(format!("cannot {what} `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests;
