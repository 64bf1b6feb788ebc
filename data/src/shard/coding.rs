//! The compression of files.

use crate::files::Origin;
use halite_disk::Readable;
use halite_support::Result;
use halite_support::files::cannot;
use std::io::Read;
use std::path::Path;

/// The compression of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coding {
    Plain,
    Gzip,
    Zstd,
}

/// The farthest that a frame of zstd may refer back, as a power of two of bytes: as far as its format goes, since large collections
/// are published so (`zstd --long=31`). The memory that is taken is that which the frame says it needs.
#[cfg(feature = "compressed")]
const WINDOW: u32 = 31;

impl Coding {
    /// The compression that the name of a file stands for, with the name that is left.
    pub(crate) fn of(name: &str) -> (Self, &str) {
        match name.rsplit_once('.') {
            Some((rest, "gz")) => (Self::Gzip, rest),
            Some((rest, "zst")) => (Self::Zstd, rest),
            _ => (Self::Plain, name),
        }
    }

    /// Whether a byte of the text is found only by decoding all before it.
    pub(crate) fn is_decoded(self) -> bool {
        self != Self::Plain
    }

    /// The text of a file from a byte on.
    pub(crate) fn open(self, origin: &Origin, at: u64) -> Result<Box<dyn Read + Send>> {
        let (path, file) = (&origin.path, origin.open()?);
        if self == Self::Plain {
            return Ok(Box::new(file.at(at)));
        }
        let fault = |error: std::io::Error| cannot("read", path, &error);
        let mut text = self.decode(path, file)?;
        std::io::copy(&mut text.by_ref().take(at), &mut std::io::sink()).map_err(fault)?;
        Ok(text)
    }

    #[cfg(feature = "compressed")]
    fn decode(self, path: &Path, file: Readable) -> Result<Box<dyn Read + Send>> {
        let file = std::io::BufReader::new(file);
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
            Self::Zstd => {
                let fault = |error: std::io::Error| cannot("read", path, &error);
                let mut text = zstd::stream::read::Decoder::with_buffer(file).map_err(fault)?;
                text.window_log_max(WINDOW).map_err(fault)?;
                Box::new(text)
            }
            Self::Plain => Box::new(file),
        })
    }

    #[cfg(not(feature = "compressed"))]
    fn decode(self, path: &Path, _: Readable) -> Result<Box<dyn Read + Send>> {
        let what = format!("`{}` is compressed", path.display());
        Err(crate::features::lacking(&what, "compressed", "decompress it"))
    }
}
