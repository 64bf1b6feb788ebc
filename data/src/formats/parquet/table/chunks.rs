//! The bytes of a table.

use bytes::Bytes;
use halite_disk::Readable;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{BufReader, Read};

/// A result of the library.
pub(super) type Parquet<T> = std::result::Result<T, ParquetError>;

/// A file as the library reads it.
#[derive(Clone)]
pub(super) struct Chunks {
    pub(super) file: Readable,
    /// In bytes.
    pub(super) size: u64,
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<Readable>;

    fn get_read(&self, start: u64) -> Parquet<Self::T> {
        Ok(BufReader::new(self.file.clone().at(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Parquet<Bytes> {
        let mut bytes = Vec::new();
        self.file.clone().at(start).take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!("it ends {} bytes early", length - bytes.len())));
        }
        Ok(bytes.into())
    }
}
