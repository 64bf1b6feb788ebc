//! Files of token ids.

use super::corpus::{config, cut, pieces, source};
use crate::config::{DataConfig, OnError, Packing, SourceConfig};
use crate::dataset::Dataset;
use crate::documents::Documents;
use crate::{count, formats, open, statistics, write_tokens};
use halite_disk::{Disk, Fate, Operation};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const WIDTH: usize = 8;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/tokens")
}

/// The documents that `make_tokens.py` writes.
fn documents() -> Vec<Vec<i32>> {
    vec![vec![5, 6, 7, 0], vec![8, 9, 0], [vec![10; 20], vec![0]].concat(), vec![11, 0]]
}

fn tokens(files: &str, eos: Option<&str>) -> DataConfig {
    let eos = eos.map(str::to_owned);
    DataConfig { eos, shuffle: false, pack: Packing::BestFit, ..config(vec![source("a", files)]) }
}

/// The pieces of the first rows, sorted.
fn read(config: &DataConfig, base: &Path, rows: usize) -> halite_support::Result<Vec<Vec<i32>>> {
    let mut pieces = pieces(&open(config, base, WIDTH, 0)?.next(rows)?);
    pieces.sort();
    Ok(pieces)
}

#[test]
fn files_of_other_programs_are_read() {
    let mut expected: Vec<_> = documents().iter().flat_map(|document| cut(document, WIDTH)).collect();
    expected.sort();
    for name in ["uint16.npy", "uint32.npy", "int32.npy", "int64.npy"] {
        let config = tokens(name, Some("0"));
        let rows = statistics(&config, &fixtures(), WIDTH, None, &mut |_| ()).unwrap()[0].rows as usize;
        assert_eq!(read(&config, &fixtures(), rows).unwrap(), expected, "{name}");
    }
    for name in ["megatron-uint16.bin", "megatron-int32.bin", "megatron-int64.bin"] {
        let config = tokens(name, None);
        let rows = statistics(&config, &fixtures(), WIDTH, None, &mut |_| ()).unwrap()[0].rows as usize;
        assert_eq!(read(&config, &fixtures(), rows).unwrap(), expected, "{name}");
    }
}

/// Ids alone, of a width that is stated, behind a header of llm.c or behind none.
#[test]
fn ids_alone_are_read_with_the_width_that_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    let flat = documents().concat();
    let header = |magic: u32, count: usize| -> Vec<u8> {
        let numbers = [magic, 1, count as u32].into_iter().chain(std::iter::repeat_n(0, 253));
        numbers.flat_map(u32::to_le_bytes).collect()
    };
    let two: Vec<u8> = flat.iter().flat_map(|id| (*id as u16).to_le_bytes()).collect();
    let four: Vec<u8> = flat.iter().flat_map(|id| id.to_le_bytes()).collect();
    let write = |name: &str, parts: &[&[u8]]| std::fs::write(folder.path().join(name), parts.concat()).unwrap();
    write("nano.bin", &[&two]);
    write("four.bin", &[&four]);
    write("llm.bin", &[&header(20_240_520, flat.len()), &two]);
    write("llm3.bin", &[&header(20_240_801, flat.len()), &four]);
    write("odd.bin", &[&two, &[0]]);
    write("short.bin", &[&header(20_240_520, flat.len() + 1), &two]);
    let of = |name: &str, format| {
        let mut config = tokens(name, Some("0"));
        config.sources[0].format = Some(format);
        read(&config, folder.path(), 6)
    };
    let expected = read(&tokens("uint16.npy", Some("0")), &fixtures(), 6).unwrap();
    let (two_bytes, four_bytes) = (formats::u16::FORMAT, formats::u32::FORMAT);
    for (name, format) in
        [("nano.bin", two_bytes), ("four.bin", four_bytes), ("llm.bin", two_bytes), ("llm3.bin", four_bytes)]
    {
        assert_eq!(of(name, format).unwrap(), expected, "{name}");
    }
    for (name, format, message) in [
        ("llm.bin", four_bytes, "llm.bin` is of llm.c with ids of 2 bytes, the recipe states 4"),
        ("llm3.bin", two_bytes, "llm3.bin` is of llm.c with ids of 4 bytes, the recipe states 2"),
        ("odd.bin", two_bytes, "odd.bin` has 61 bytes, which are no whole ids of 2 bytes"),
        ("short.bin", two_bytes, "short.bin, token 30: the file ends after 30 tokens, expected 31"),
        ("nano.bin", four_bytes, "nano.bin, token 0: the id 393221, the tokenizer knows 256"),
    ] {
        let error = of(name, format).unwrap_err();
        assert!(error.message().ends_with(message), "{error}");
    }
}

#[test]
fn an_array_without_marks_is_one_document_and_may_be_used_in_part() {
    let flat = documents().concat();
    let of_part = |part: Option<&str>, width| {
        let mut config = tokens("uint16.npy", None);
        config.sources[0].part = part.map(str::to_owned);
        pieces(&open(&config, &fixtures(), width, 0).unwrap().next(1).unwrap())
    };
    assert_eq!(of_part(None, flat.len()), vec![flat.clone()]);
    assert_eq!(of_part(Some("0..0.5"), 15), vec![flat[..15].to_vec()]);
    assert_eq!(of_part(Some("0.5..1"), 15), vec![flat[15..].to_vec()]);
}

#[test]
fn files_that_are_no_token_files_or_are_damaged_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str, to: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(fixtures().join(name)).unwrap();
        change(&mut bytes);
        std::fs::write(folder.path().join(to), bytes).unwrap();
    };
    copy("float32.npy", "a.npy", &|_| ());
    copy("two.npy", "b.npy", &|_| ());
    copy("uint16.npy", "c.npy", &|bytes| bytes.truncate(20));
    copy("uint16.npy", "d.npy", &|bytes| bytes.truncate(bytes.len() - 2));
    copy("uint16.npy", "e.npy", &|bytes| bytes.extend([0; 2]));
    for (name, change) in [("f", 0), ("g", 9), ("h", 17), ("i", 18)] {
        copy("megatron-uint16.bin", &format!("{name}.bin"), &|_| ());
        copy("megatron-uint16.idx", &format!("{name}.idx"), &|bytes| bytes[change] = 9);
    }
    copy("megatron-uint16.bin", "j.bin", &|_| ());
    copy("megatron-uint16.bin", "k.bin", &|bytes| bytes.truncate(bytes.len() - 2));
    copy("megatron-uint16.idx", "k.idx", &|_| ());
    copy("int32.npy", "l.npy", &|bytes| {
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&(-1_i32).to_le_bytes());
    });
    copy("uint16.npy", "m.npy", &|bytes| {
        let last = bytes.len() - 2;
        bytes[last..].copy_from_slice(&256_u16.to_le_bytes());
    });
    for (name, message) in [
        ("a.npy", "a.npy` has elements of type `<f4`"),
        ("b.npy", "b.npy` has the shape (2, 30)"),
        ("c.npy", "c.npy` is not a file of NumPy"),
        ("d.npy", "d.npy, token 29: the file ends after 29 tokens, expected 30"),
        ("f.bin", "f.idx` is not an index of Megatron"),
        ("g.bin", "g.idx` is of version 9, expected 1"),
        ("h.bin", "h.idx` has elements of type 9, expected 4 (i32), 5 (i64) or 8 (u16)"),
        ("i.bin", "i.idx` has 134 bytes, expected 182"),
        ("j.bin", "j.bin` has no `j.idx` beside it, as files of Megatron do"),
        ("k.bin", "k.bin, token 29: the file ends after 29 tokens, expected 30"),
        ("l.npy", "l.npy, token 29: the id -1, the tokenizer knows 256"),
        ("m.npy", "m.npy, token 29: the id 256, the tokenizer knows 256"),
    ] {
        let error = read(&tokens(name, name.ends_with("npy").then_some("0")), folder.path(), 20).unwrap_err();
        assert!(error.message().replace(&format!("{}/", folder.path().display()), "").ends_with(message), "{error}");
    }
    for name in ["d.npy", "k.bin"] {
        let eos = name.ends_with("npy").then_some("0");
        let config = DataConfig { on_error: OnError::Skip, ..tokens(name, eos) };
        let found = &statistics(&config, folder.path(), WIDTH, None, &mut |_| ()).unwrap()[0];
        assert_eq!((found.counted.documents, found.counted.tokens), (3, 28), "what comes before is used");
        assert_eq!(found.counted.skipped[0].reason, "damaged file");
    }
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one\ntwo words\n\nthree\n").unwrap();
    let lines = SourceConfig { documents: Documents::Line, ..source("a", "a.txt") };
    for (eos, size) in [(Some("256"), 2), (Some("70000"), 4)] {
        let config = DataConfig { eos: eos.map(str::to_owned), shuffle: false, ..config(vec![lines.clone()]) };
        let out = folder.path().join("out/x.bin");
        let written = &write_tokens(&config, folder.path(), &Disk::default(), &out, &mut |_| ()).unwrap()[0];
        assert_eq!((written.documents, written.tokens, written.skipped.len()), (3, 20, 1));
        assert_eq!(std::fs::metadata(&out).unwrap().len(), 20 * size);
        let again = DataConfig { sources: vec![source("a", "out/x.bin")], ..config.clone() };
        assert_eq!(read(&again, folder.path(), 20).unwrap(), read(&config, folder.path(), 20).unwrap());
    }
    let error = write_tokens(&config(vec![lines]), folder.path(), &Disk::default(), Path::new("x.idx"), &mut |_| ())
        .unwrap_err();
    assert_eq!(error.message(), "tokens are to be written to `x.idx`, which does not end in `.bin`");
}

#[test]
fn writing_that_fails_leaves_each_file_as_it_was_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    let lines = SourceConfig { documents: Documents::Line, ..source("a", "a.txt") };
    let out = folder.path().join("x.bin");
    let write = |disk: &Disk| write_tokens(&config(vec![lines.clone()]), folder.path(), disk, &out, &mut |_| ());
    let read = || [out.clone(), out.with_extension("idx")].map(|path| std::fs::read(path).unwrap());
    let write_of = |text: &str, disk: &Disk| {
        std::fs::write(folder.path().join("a.txt"), text).unwrap();
        write(disk)
    };
    let counted = Disk::planned(|_, _| Fate::Done);
    write_of("new\ntwo\nthree\n", &counted).unwrap();
    let new = read();
    for call in 0..counted.calls() {
        for fate in [Fate::Fails(std::io::ErrorKind::StorageFull), Fate::Killed] {
            write_of("old\n", &Disk::default()).unwrap();
            let old = read();
            let disk = Disk::planned(move |number, _| if number == call { fate } else { Fate::Done });
            let result = write_of("new\ntwo\nthree\n", &disk);
            for ((found, old), new) in read().iter().zip(&old).zip(&new) {
                let is_whole = found == new || (result.is_err() && found == old);
                assert!(is_whole, "call {call}, {fate:?}: {found:?}");
            }
        }
    }
}

#[test]
fn what_was_written_is_on_the_device() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one").unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = calls.clone();
    let disk = Disk::planned(move |_, call| {
        log.lock().unwrap().push(call);
        Fate::Done
    });
    let config = config(vec![source("a", "a.txt")]);
    write_tokens(&config, folder.path(), &disk, &folder.path().join("x.bin"), &mut |_| ()).unwrap();
    let calls = calls.lock().unwrap();
    let (before, after) = calls.split_at(calls.iter().position(|call| *call == Operation::Rename).unwrap());
    let last_write = before.iter().rposition(|call| *call == Operation::Write).unwrap();
    let is_sync = |call: &&Operation| **call == Operation::Sync;
    assert_eq!(before.iter().filter(is_sync).count(), 2, "one for each file");
    assert!(before[last_write..].contains(&Operation::Sync));
    assert_eq!(after[after.len() - 2..], [Operation::Rename, Operation::SyncFolder]);
}

#[test]
fn the_beginning_of_data_is_as_much_as_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
    std::fs::write(folder.path().join("a.txt"), &text).unwrap();
    let lines = SourceConfig { documents: Documents::Line, ..source("a", "a.txt") };
    let config = DataConfig { eos: Some("0".to_owned()), shuffle: false, ..config(vec![lines]) };
    let mut heard = 0;
    let of = |rows, observe: &mut dyn FnMut(u64)| {
        statistics(&config, folder.path(), WIDTH, rows, &mut |counted| observe(counted.tokens)).unwrap().remove(0)
    };
    let (whole, start) = (of(None, &mut |tokens| heard = tokens), of(Some(5), &mut |_| ()));
    assert!(whole.is_whole && !start.is_whole);
    assert!((5..20).contains(&start.rows), "{}", start.rows);
    assert!(start.counted.documents < 30, "{}", start.counted.documents);
    assert_eq!(start.first[0][..5], b"line ".map(i32::from));

    let counted = count(&config, folder.path(), &mut |_| ()).unwrap().remove(0);
    assert_eq!((counted.files, counted.documents, counted.tokens), (1, 100_000, text.len() as u64));
    assert_eq!((counted, heard), (whole.counted, text.len() as u64));
}
