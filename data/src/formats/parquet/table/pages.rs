//! The pages of a column, none of which takes more memory than a page may.

use super::chunks::{Chunks, Parquet};
use super::counts::check;
use super::unpack::{is_known, unpack};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// Pages as the library reads them, but decompressed here, and held to what they state of themselves.
pub(super) struct Pages {
    pages: SerializedPageReader<Chunks>,
    /// Their compression, if `unpack` knows it.
    codec: Option<Compression>,
    /// Whether rows have definition levels, which are before the values.
    levels: bool,
}

impl Pages {
    pub(super) fn open(file: Arc<Chunks>, column: &ColumnChunkMetaData, rows: usize) -> Parquet<Self> {
        let codec = Some(column.compression()).filter(|codec| is_known(*codec));
        let as_it_is = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let column = if codec.is_some() { as_it_is.build()? } else { column.clone() };
        let pages = SerializedPageReader::new(file, &column, rows, None)?;
        Ok(Self { pages, codec, levels: column.column_descr().max_def_level() > 0 })
    }

    fn checked(&self, mut page: Page) -> Parquet<Page> {
        if let Some(codec) = self.codec {
            match &mut page {
                Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = unpack(codec, buf)?.into(),
                Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                    // Levels stand before the values as they are; without values nothing is compressed.
                    let levels =
                        (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize).min(buf.len());
                    if *is_compressed && levels < buf.len() {
                        let values = unpack(codec, &buf[levels..])?;
                        *buf = Bytes::from([&buf[..levels], &values].concat());
                    }
                }
            }
        }
        check(&page, self.levels)?;
        Ok(page)
    }
}

impl Iterator for Pages {
    type Item = Parquet<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Parquet<Option<Page>> {
        self.pages.get_next_page()?.map(|page| self.checked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Parquet<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Parquet<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Parquet<Option<Page>> {
        self.pages.take_deferred_dictionary()?.map(|page| self.checked(page)).transpose()
    }

    fn at_record_boundary(&mut self) -> Parquet<bool> {
        self.pages.at_record_boundary()
    }
}
