//! Decompression within a bound.

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use std::io::Read;

/// The most bytes of a page.
pub(super) const MOST: usize = 1 << 30;

/// Whether [`unpack`] knows the compression. The library allocates the size that a page states, which is below 2 GiB, but takes all
/// output of gzip and Brotli; its other compressions are left to it.
pub(super) fn is_known(codec: Compression) -> bool {
    use Compression::{BROTLI, GZIP, SNAPPY, ZSTD};
    matches!(codec, GZIP(_) | BROTLI(_) | SNAPPY | ZSTD(_))
}

/// The bytes that were compressed.
///
/// # Errors
/// When they are more than [`MOST`], or the compression is wrong.
pub(super) fn unpack(codec: Compression, bytes: &[u8]) -> Result<Vec<u8>, ParquetError> {
    match codec {
        Compression::SNAPPY if snap::raw::decompress_len(bytes)? > MOST => Err(too_large()),
        Compression::SNAPPY => Ok(snap::raw::Decoder::new().decompress_vec(bytes)?),
        Compression::GZIP(_) => read(flate2::read::MultiGzDecoder::new(bytes)),
        Compression::BROTLI(_) => read(brotli::Decompressor::new(bytes, 1 << 12)),
        Compression::ZSTD(_) => read(zstd::Decoder::with_buffer(bytes)?),
        codec => Err(ParquetError::General(format!("the compression {codec:?} is not known"))),
    }
}

fn read(from: impl Read) -> Result<Vec<u8>, ParquetError> {
    let mut bytes = Vec::new();
    from.take(MOST as u64 + 1).read_to_end(&mut bytes).map_err(|error| ParquetError::General(error.to_string()))?;
    if bytes.len() > MOST { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> ParquetError {
    ParquetError::General(format!("a page has more than {MOST} bytes"))
}
