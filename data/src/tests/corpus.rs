//! Random corpora, and what they are expected to become.

use crate::config::{DataConfig, OnError, Packing, SourceConfig};
use crate::dataset::{Dataset, Rows};
use crate::documents::Documents;
use crate::encoder::Encoder;
use crate::files::Origin;
use crate::formats::text::TextShard;
use crate::layout::Layout;
use crate::packed::Packed;
use crate::random::hash;
use crate::reader::Reader;
use crate::shard::{Coding, Shard};
use halite_disk::Disk;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Numbers that follow from a seed.
pub(crate) struct Draw {
    seed: u64,
    drawn: u64,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.drawn += 1;
        (hash(&[self.seed, self.drawn]) % end as u64) as usize
    }

    /// Words with spaces between them, of so many letters.
    pub(crate) fn text(&mut self, length: usize) -> String {
        let letter = |at, draw: &mut Self| {
            let is_inside = at > 0 && at + 1 < length;
            if is_inside && draw.below(5) == 0 { ' ' } else { char::from(b'a' + draw.below(26) as u8) }
        };
        (0..length).map(|at| letter(at, self)).collect()
    }
}

/// A source and how it is packed.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) documents: Documents,
    pub(crate) layout: Layout,
    pub(crate) block: usize,
    pub(crate) threads: usize,
    pub(crate) eos: Option<i32>,
}

/// Files of documents.
pub(crate) struct Corpus {
    folder: TempDir,
    /// The documents of each file.
    pub(crate) files: Vec<Vec<String>>,
}

impl Corpus {
    /// At most three files of documents of up to `longest` letters.
    pub(crate) fn random(draw: &mut Draw, documents: Documents, longest: usize) -> Self {
        let files = (0..1 + draw.below(3)).map(|_| {
            let count = if documents == Documents::File { 1 } else { 1 + draw.below(12) };
            let text = |draw: &mut Draw| {
                let length = 1 + draw.below(longest);
                draw.text(length)
            };
            (0..count).map(|_| text(draw)).collect::<Vec<_>>()
        });
        Self::new(files.collect(), documents)
    }

    pub(crate) fn new(files: Vec<Vec<String>>, documents: Documents) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let separator = if documents == Documents::Blank { "\n\n" } else { "\n" };
        for (number, texts) in files.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{number}.txt")), texts.join(separator)).unwrap();
        }
        Self { folder, files }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn open(&self, case: &Case) -> Packed {
        let shard = |number: usize| -> Box<dyn Shard> {
            let path = self.path().join(format!("{number}.txt"));
            let range = 0..std::fs::metadata(&path).unwrap().len();
            let (documents, block) = (case.documents, case.block);
            let origin = Origin { path, disk: Disk::default() };
            Box::new(TextShard { origin, coding: Coding::Plain, documents, range, block })
        };
        let shards = (0..self.files.len()).map(shard).collect();
        let reader = Reader::new(shards, OnError::Stop, case.layout.seed);
        let eos = case.eos.map(|eos| eos.to_string());
        let config = DataConfig { threads: Some(case.threads), eos, ..config(Vec::new()) };
        let encoder = Encoder::open(&config, self.path()).unwrap();
        Packed::new(reader, Arc::new(encoder), case.layout.clone(), BTreeMap::new())
    }

    /// The tokens of the documents, file after file.
    pub(crate) fn documents(&self, eos: Option<i32>) -> Vec<Vec<i32>> {
        let tokens = |text: &String| text.bytes().map(i32::from).chain(eos).collect();
        self.files.iter().flatten().map(tokens).collect()
    }
}

/// The configuration with the defaults of these tests.
pub(crate) fn config(sources: Vec<SourceConfig>) -> DataConfig {
    let (pack, on_error, tokenizer) = (Packing::BestFit, OnError::Stop, "bytes".to_owned());
    DataConfig { tokenizer, bos: None, eos: None, pack, shuffle: true, buffer: None, threads: None, on_error, sources }
}

/// A random corpus, and a way to read it.
pub(crate) fn random(seed: u64) -> (Corpus, Case) {
    let mut draw = Draw::new(seed);
    let documents = [Documents::File, Documents::Line, Documents::Blank][draw.below(3)];
    let layout = Layout {
        pack: [Packing::InOrder, Packing::BestFit][draw.below(2)],
        width: 2 + draw.below(12),
        buffer: [1, 10, 40, 1000][draw.below(4)],
        seed: (draw.below(2) == 0).then_some(seed),
    };
    let (block, threads) = ([5, 16, 1000][draw.below(3)], 1 + draw.below(3));
    let eos = (draw.below(2) == 0).then_some(256);
    let longest = if documents == Documents::File { 150 } else { 30 };
    let corpus = Corpus::random(&mut draw, documents, longest);
    (corpus, Case { documents, layout, block, threads, eos })
}

/// The pieces of documents in rows, in their order.
pub(crate) fn pieces(rows: &Rows) -> Vec<Vec<i32>> {
    let mut pieces = Vec::new();
    for row in 0..rows.rows {
        let own = row * rows.width..(row + 1) * rows.width;
        let segments = &rows.segments[own.clone()];
        for piece in segments.chunk_by(|one, other| one == other).filter(|piece| piece[0] != 0) {
            let start = own.start + segments.partition_point(|segment| *segment < piece[0] && *segment != 0);
            pieces.push(rows.tokens[start..start + piece.len()].to_vec());
        }
    }
    pieces
}

/// A document cut where rows end, each piece beginning with the last token of the one before.
pub(crate) fn cut(document: &[i32], width: usize) -> Vec<Vec<i32>> {
    let (head, rest) = document.split_at(document.len().min(width));
    let mut pieces = vec![head.to_vec()];
    pieces.extend(rest.chunks(width - 1).scan(head[head.len() - 1], |last, chunk| {
        let piece = std::iter::once(*last).chain(chunk.iter().copied()).collect();
        *last = chunk[chunk.len() - 1];
        Some(piece)
    }));
    pieces
}

/// All rows of the first epochs, packed by best fit: as many as hold all pieces of the documents.
pub(crate) fn epochs(corpus: &Corpus, case: &Case, epochs: usize) -> Rows {
    let documents = corpus.documents(case.eos);
    let pieces = documents.iter().flat_map(|document| cut(document, case.layout.width));
    let expected = epochs * pieces.map(|piece| piece.len()).sum::<usize>();
    let mut packed = corpus.open(case);
    let (mut all, mut used) = (Rows::with_capacity(0, case.layout.width), 0);
    while used < expected {
        let row = packed.next(1).unwrap();
        used += row.segments.iter().filter(|segment| **segment > 0).count();
        all.append(row);
    }
    all
}

/// A source of the files that a pattern names.
pub(crate) fn source(name: &str, files: &str) -> SourceConfig {
    let (name, files, column) = (name.to_owned(), vec![files.to_owned()], "text".to_owned());
    SourceConfig { name, files, format: None, column, documents: Documents::File, part: None, weight: 1.0 }
}
