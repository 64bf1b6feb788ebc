//! Reads that fail: each, of every kind of file, once.

use super::corpus::{config, source};
use crate::config::{DataConfig, OnError, SourceConfig};
use crate::dataset::{Dataset, Rows};
use crate::documents::Documents;
use crate::files::Root;
use crate::open::open_on;
use flate2::Compression;
use flate2::write::GzEncoder;
use halite_disk::{Disk, Fate, Operation};
use halite_support::Result;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WIDTH: usize = 16;

/// The number of rows that a run takes at a time: before and after its position is kept, and once it is resumed.
const ROWS: usize = 6;

/// Files of each kind, in one folder.
fn files(folder: &Path) -> Vec<&'static str> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    let lines: String = (0..40).map(|number| format!("line {number} of them\n")).collect();
    let json: String = (0..40).map(|number| format!("{{\"text\": \"line {number} of them\"}}\n")).collect();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("a.txt", lines.as_bytes());
    write("b.jsonl", json.as_bytes());
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(lines.as_bytes()).unwrap();
    write("c.txt.gz", &gzip.finish().unwrap());
    write("d.jsonl.zst", &zstd::encode_all(json.as_bytes(), 1).unwrap());
    write("h.json", format!("[{}]", json.trim_end().replace('\n', ",\n")).as_bytes());
    let raw: Vec<u8> = lines.bytes().flat_map(|byte| u16::from(byte).to_le_bytes()).collect();
    write("i.bin", &raw);
    for (from, to) in [
        ("tokens/uint16.npy", "e.npy"),
        ("tokens/megatron-uint16.bin", "f.bin"),
        ("tokens/megatron-uint16.idx", "f.idx"),
        ("tables/texts-pages-1.0.parquet", "g.parquet"),
    ] {
        std::fs::copy(fixtures.join(from), folder.join(to)).unwrap();
    }
    vec!["a.txt", "b.jsonl", "c.txt.gz", "d.jsonl.zst", "e.npy", "f.bin", "g.parquet", "h.json", "i.bin"]
}

fn data(name: &str, on_error: OnError) -> DataConfig {
    let is_whole = [".gz", ".zst", ".json"].iter().any(|end| name.ends_with(end));
    let part = (!is_whole).then(|| "0.1..0.9".to_owned());
    let format = (name == "i.bin").then_some(crate::formats::u16::FORMAT);
    let source = SourceConfig { documents: Documents::Line, part, format, ..source("a", name) };
    DataConfig { on_error, buffer: Some(64), eos: Some("none".to_owned()), ..config(vec![source]) }
}

/// Rows, then rows from a position that was kept before the last of them, as a run that goes on takes them.
fn go(config: &DataConfig, folder: &Path, disk: &Disk) -> Vec<Result<Rows>> {
    let open = || open_on(config, Root { base: folder, disk }, WIDTH, 7);
    let mut taken = Vec::new();
    // A call that fails is made again, as a run that is started again makes it.
    let mut again = |act: &mut dyn FnMut() -> Result<Rows>| loop {
        let rows = act();
        let is_there = rows.is_ok();
        taken.push(rows);
        assert!(taken.len() < 100);
        if is_there {
            return;
        }
    };
    let mut first = None;
    again(&mut || {
        first = Some(open()?);
        Ok(Rows::default())
    });
    let mut first = first.unwrap();
    again(&mut || first.next(ROWS));
    let position = first.position();
    again(&mut || first.next(ROWS));
    let mut second = None;
    again(&mut || {
        let mut opened = open()?;
        opened.seek(&position)?;
        second = Some(opened);
        Ok(Rows::default())
    });
    let mut second = second.unwrap();
    again(&mut || second.next(ROWS));
    assert!(second.skipped().iter().chain(&first.skipped()).all(|skipped| skipped.reason == "empty document"));
    taken
}

/// A read that fails is an error that names the file, whatever the handling of data that cannot be read; after it the same rows come
/// as if it had not failed. Nothing is left out.
#[test]
fn a_read_that_fails_is_an_error_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = BTreeMap::new();
    for name in files(folder.path()) {
        for on_error in [OnError::Stop, OnError::Skip] {
            let config = data(name, on_error);
            let whole = Disk::planned(|_, _| Fate::Done);
            let expected: Vec<Rows> = go(&config, folder.path(), &whole).into_iter().map(Result::unwrap).collect();
            assert_eq!(expected.len(), 5);
            assert_eq!(expected[2], expected[4], "{name}: a position is where it was");
            for number in 0..whole.calls() {
                let done: Arc<AtomicUsize> = Arc::default();
                let (seen, kind) = (done.clone(), [ErrorKind::TimedOut, ErrorKind::PermissionDenied][number % 2]);
                let disk = Disk::planned(move |call, operation| {
                    if call != number {
                        return Fate::Done;
                    }
                    seen.store(1 + usize::from(operation == Operation::Read), Ordering::Relaxed);
                    Fate::Fails(kind)
                });
                let taken = go(&config, folder.path(), &disk);
                let (rows, errors): (Vec<_>, Vec<_>) = taken.into_iter().partition(Result::is_ok);
                let rows: Vec<Rows> = rows.into_iter().map(Result::unwrap).collect();
                assert!(rows == expected, "{name}: call {number}");
                let [Err(error)] = &errors[..] else { panic!("{name}: call {number}: {errors:?}") };
                let path = folder.path().join(name);
                let named = [path.clone(), path.with_extension("idx")].map(|path| path.display().to_string());
                assert!(named.iter().any(|path| error.message().contains(path)), "{name}: call {number}: {error}");
                *table.entry((name, done.load(Ordering::Relaxed))).or_insert(0) += 1;
            }
        }
    }
    for ((name, operation), count) in &table {
        println!("{name:12} {:4} {count:3} faults, as many errors, no row lost", ["", "open", "read"][*operation]);
    }
    assert_eq!(table.len(), 18, "both are done to each: {table:?}");
}

#[test]
fn files_that_go_away_are_errors_whatever_is_done_with_what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in files(folder.path()) {
        let config = data(name, OnError::Skip);
        let disk = Disk::default();
        let mut data = open_on(&config, Root { base: folder.path(), disk: &disk }, WIDTH, 7).unwrap();
        let path: PathBuf = folder.path().join(name);
        std::fs::remove_file(&path).unwrap();
        // A file that is open is read on.
        let error = (0..1000).find_map(|_| data.next(1).err());
        if let Some(error) = error {
            assert!(error.message().contains(name), "{error}");
        } else {
            assert!(["e.npy", "f.bin", "i.bin"].contains(&name), "{name} is opened again");
        }
    }
}
