//! Zstandard files, which are frames one after another.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// The text of all frames.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Goes to the next frame with text; `false` at the end of the file.
    fn next_frame(&mut self) -> Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    std::io::copy(&mut self.source.by_ref().take(length.into()), &mut std::io::sink())?;
                }
                Err(error) => return Err(Error::other(error)),
            }
        }
        Ok(false)
    }

    fn check_sum(&self) -> Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stated), Some(own)) if stated != own => Err(Error::new(ErrorKind::InvalidData, "wrong checksum")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.is_in_frame {
                self.is_in_frame = self.next_frame()?;
                if !self.is_in_frame {
                    return Ok(0);
                }
            } else if self.decoder.is_finished() {
                self.check_sum()?;
                self.is_in_frame = false;
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(Error::other)?;
            }
        }
        self.decoder.read(buffer)
    }
}
