//! Tables in Parquet, which `make_tables.py` makes with Arrow.

use super::corpus::{Draw, config, pieces, source};
use crate::config::{DataConfig, OnError, SourceConfig};
use crate::dataset::Dataset;
use crate::files::Origin;
use crate::formats::parquet::ParquetShard;
use crate::part::Part;
use crate::shard::{Block, Content, Fault, Found, Reason, Shard};
use crate::{open, statistics};
use halite_disk::Disk;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/tables")
}

/// The texts that all tables have which are called so.
fn texts() -> Vec<String> {
    serde_json::from_str(&std::fs::read_to_string(fixtures().join("texts.json")).unwrap()).unwrap()
}

/// The tables with these texts.
fn tables() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
    let is_one = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().ends_with(".parquet");
    let mut tables: Vec<PathBuf> =
        entries.filter(|path| is_one(path) && path.to_str().unwrap().contains("texts-")).collect();
    tables.sort();
    assert_eq!(tables.len(), 11);
    tables
}

fn shard(path: &Path, column: &str, part: &str) -> halite_support::Result<ParquetShard> {
    let origin = Origin { path: path.to_path_buf(), disk: Disk::default() };
    ParquetShard::open(&origin, column, Part::parse(part).unwrap())
}

fn text(block: Block) -> String {
    match block.content {
        Content::Text(text) => text,
        Content::Tokens(tokens) => panic!("{tokens:?}"),
    }
}

/// All that a table holds, with what is no document.
fn read(shard: &dyn Shard) -> halite_support::Result<(Vec<String>, Vec<Fault>)> {
    let (mut blocks, mut texts, mut faults) = (shard.open()?, Vec::new(), Vec::new());
    loop {
        match blocks.next()? {
            Found::Block(block) => texts.push(text(block)),
            Found::Fault(fault) => faults.push(fault),
            Found::End => return Ok((texts, faults)),
        }
    }
}

#[test]
fn tables_of_arrow_have_the_texts_that_it_was_given() {
    for path in tables() {
        let (found, faults) = read(&shard(&path, "text", "0..1").unwrap()).unwrap();
        assert_eq!((found, faults.len()), (texts(), 0), "{}", path.display());
        let (half, _) = read(&shard(&path, "text", "0.3..0.7").unwrap()).unwrap();
        assert_eq!(half, texts()[15..35], "{}", path.display());
    }
    let inside = shard(&fixtures().join("inside.parquet"), "meta.text", "0..1").unwrap();
    assert_eq!(read(&inside).unwrap().0, texts());
}

#[test]
fn reading_goes_on_at_any_row() {
    for path in tables() {
        let shard = shard(&path, "text", "0.1..0.9").unwrap();
        let mut places = Vec::new();
        let mut blocks = shard.open().unwrap();
        while let Found::Block(block) = blocks.next().unwrap() {
            places.push((block.place, text(block)));
        }
        let mut draw = Draw::new(0);
        for _ in 0..20 {
            let first = draw.below(places.len());
            blocks.seek(places[first].0).unwrap();
            for (place, expected) in places[first..].iter().take(20) {
                assert_eq!(blocks.place(), *place);
                let Found::Block(block) = blocks.next().unwrap() else { panic!("{}", path.display()) };
                assert_eq!(text(block), *expected, "{}", path.display());
            }
        }
        let outside = crate::shard::Place { at: 46, within: false };
        let message = blocks.seek(outside).unwrap_err().to_string();
        assert!(message.contains("the position is at row 46 of"), "{message}");
    }
}

/// A table as the only source.
fn table(name: &str, column: &str, on_error: OnError) -> DataConfig {
    let source = SourceConfig { column: column.to_owned(), ..source("a", name) };
    DataConfig { on_error, shuffle: false, eos: Some("none".to_owned()), ..config(vec![source]) }
}

#[test]
fn rows_without_a_text_end_the_run_or_are_counted() {
    for (name, message, reason, left) in [
        ("missing.parquet", "missing.parquet, row 1: `text` is null, expected a text", "no text under the key", 4),
        ("binary.parquet", "binary.parquet, row 1: byte 3 of the text is not UTF-8", "not UTF-8", 2),
    ] {
        let error = open(&table(name, "text", OnError::Stop), &fixtures(), 16, 0).unwrap().next(1).unwrap_err();
        assert!(error.message().ends_with(message), "{error}");
        let config = table(name, "text", OnError::Skip);
        let rows = statistics(&config, &fixtures(), 16, None, &mut |_| ()).unwrap()[0].rows as usize;
        let mut data = open(&config, &fixtures(), 16, 0).unwrap();
        assert_eq!(pieces(&data.next(rows).unwrap()).len(), left);
        assert!(data.skipped().iter().any(|skipped| skipped.reason == reason), "{:?}", data.skipped());
    }
}

#[test]
fn columns_that_are_not_there_or_no_texts_are_refused() {
    for (name, column, message, help) in [
        ("missing.parquet", "body", "the column `body` is not there", "write as `column` one of `text`"),
        ("missing.parquet", "id", "the column `id` is no text", "write as `column` one of `text`"),
        ("missing.parquet", "words", "the column `words` is not there", "write as `column` one of `text`"),
        ("inside.parquet", "text", "the column `text` is not there", "one of `meta.text`, `meta.source`"),
    ] {
        let error = open(&table(name, column, OnError::Skip), &fixtures(), 16, 0).err().unwrap();
        let shown = format!("{error:?}");
        assert!(shown.contains(message) && shown.contains(help), "{shown}");
    }
}

#[test]
fn files_that_end_early_are_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixtures().join("texts-snappy.parquet")).unwrap();
    std::fs::write(folder.path().join("a.parquet"), &whole[..whole.len() - 100]).unwrap();
    std::fs::copy(fixtures().join("texts-zstd.parquet"), folder.path().join("b.parquet")).unwrap();
    let open = |on_error| open(&table("*.parquet", "text", on_error), folder.path(), 64, 0).unwrap();
    let error = open(OnError::Stop).next(1).unwrap_err();
    assert!(error.message().contains("a.parquet, row 0: the file is damaged ("), "{error}");
    let mut skip = open(OnError::Skip);
    let rows = skip.next(1).unwrap();
    assert!(pieces(&rows).len() > 1);
    let [skipped] = &skip.skipped()[..] else { panic!("{:?}", skip.skipped()) };
    assert_eq!((skipped.reason.as_str(), skipped.count), ("damaged file", 1));
}

/// 2 KB that become 64 MiB, and 35 KB that become a page of more than a GiB.
#[test]
fn texts_and_pages_that_are_too_large_are_no_documents() {
    let faults = |name: &str| {
        let (texts, faults) = read(&shard(&fixtures().join(name), "text", "0..1").unwrap()).unwrap();
        let faults: Vec<_> = faults.into_iter().map(|Fault { reason, at, detail }| (reason, at, detail)).collect();
        (texts, faults)
    };
    let detail = "the text has 64.0 MiB, 64.0 MiB is the most";
    assert_eq!(faults("long.parquet"), (vec!["one".into(), "two".into()], vec![(Reason::TooLong, 1, detail.into())]));
    let detail = "the file is damaged (a page has more than 1073741824 bytes); rows 0 to 17 are lost";
    assert_eq!(faults("huge.parquet"), (vec![], vec![(Reason::Damaged, 0, detail.into())]));
}

/// Whatever a byte is, a file is read, or said to be damaged where it is.
#[test]
fn no_wrong_byte_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut damaged = 0;
    for (number, table) in tables().iter().enumerate() {
        let whole = std::fs::read(table).unwrap();
        for at in (number % 5..whole.len()).step_by(5) {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
            std::fs::write(&path, bytes).unwrap();
            let Ok(shard) = shard(&path, "text", "0..1") else { continue };
            let Ok((_, faults)) = read(&shard) else { continue };
            damaged += usize::from(!faults.is_empty());
        }
    }
    assert!(damaged > 200, "{damaged}");
}

#[test]
fn a_damaged_group_of_rows_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut bytes = std::fs::read(fixtures().join("texts-pages-1.0.parquet")).unwrap();
    // In a page of the first group, which has 30 rows; pages have sums.
    let word = bytes.windows(5).position(|bytes| bytes == b"three").unwrap();
    bytes[word] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (found, faults) = read(&shard(&path, "text", "0..1").unwrap()).unwrap();
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert!(fault.detail.ends_with("rows 0 to 29 are lost"), "{}", fault.detail);
    assert_eq!(found, texts()[30..]);
}
