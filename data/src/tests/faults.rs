//! Data that cannot be read, by both policies.

use super::corpus::{config, pieces, source};
use crate::config::{DataConfig, OnError, Packing, SourceConfig};
use crate::dataset::{Dataset, Skipped};
use crate::documents::Documents;
use crate::open;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

/// A file that holds something unusable between documents that are.
struct Case {
    name: &'static str,
    content: Vec<u8>,
    documents: Documents,
    /// The error message after the name of the folder.
    message: &'static str,
    reason: &'static str,
    example: &'static str,
    /// The documents that are left.
    left: &'static [&'static str],
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd_frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A frame as `zstd --long=31` writes it, whose blocks may refer back 2 GiB. They are stored as they are.
fn zstd_long_frame(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (31 - 10) << 3];
    let blocks: Vec<&[u8]> = text.chunks(1 << 16).collect();
    for (number, block) in blocks.iter().enumerate() {
        let head = (block.len() as u32) << 3 | u32::from(number + 1 == blocks.len());
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

/// Numbers, one on each line.
fn numbers() -> Vec<u8> {
    (0..20_000).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

fn without_end(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 4);
    bytes
}

fn with_wrong_byte(mut bytes: Vec<u8>) -> Vec<u8> {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    bytes
}

fn cases() -> Vec<Case> {
    let case = |name, content: &[u8], message, reason, example, left| {
        let (content, documents) = (content.to_vec(), Documents::Line);
        Case { name, content, documents, message, reason, example, left }
    };
    let json = |line: &str| format!("{{\"text\": \"one\"}}\n{line}\n{{\"text\": \"two\"}}").into_bytes();
    let left: &[&str] = &["one", "two"];
    vec![
        case("a.txt", b"one\nx\xff\ntwo", "a.txt:2: byte 5 of the text is not UTF-8", "not UTF-8", "a.txt:2", left),
        Case {
            documents: Documents::File,
            ..case("b.txt", b"one\n\n\xc3", "b.txt:3: byte 5 of the text is not UTF-8", "not UTF-8", "b.txt:3", &[])
        },
        case(
            "a.jsonl",
            &json("{\"text\": \"x}"),
            "a.jsonl:2: the line is no JSON object: EOF while parsing a string at column 12",
            "not a JSON object",
            "a.jsonl:2",
            left,
        ),
        case(
            "b.jsonl",
            &json("[1]"),
            "b.jsonl:2: the line is no JSON object: invalid type: sequence, expected an object at column 0",
            "not a JSON object",
            "b.jsonl:2",
            left,
        ),
        case(
            "c.jsonl",
            &json("{\"content\": \"x\"}"),
            "c.jsonl:2: the object has no `text`",
            "no text under the key",
            "c.jsonl:2",
            left,
        ),
        case(
            "d.jsonl",
            &json("{\"text\": 3}"),
            "d.jsonl:2: `text` is a number, expected a string",
            "no text under the key",
            "d.jsonl:2",
            left,
        ),
        case(
            "e.jsonl",
            &json(&format!("\"{}\"", "x".repeat(1 << 26))),
            "e.jsonl:2: the line is longer than 64.0 MiB",
            "line or text too long",
            "e.jsonl:2",
            left,
        ),
        case(
            "f.jsonl",
            b"{\"text\": \"one\"}\n{\"text\": \"\xff\"}\n{\"text\": \"two\"}",
            "f.jsonl:2: byte 26 of the text is not UTF-8",
            "not UTF-8",
            "f.jsonl:2",
            left,
        ),
    ]
}

fn data(case: &Case, base: &Path, on_error: OnError) -> DataConfig {
    let source = SourceConfig { documents: case.documents, ..source("a", case.name) };
    // Without it nothing is left of the shortest.
    let rest = SourceConfig { documents: Documents::Line, ..source.clone() };
    std::fs::write(base.join("rest.txt"), "three").unwrap();
    let files = vec![case.name.to_owned(), "rest.txt".to_owned()];
    let format = (!case.name.contains(".json")).then_some(crate::TEXT);
    let source = SourceConfig { files, format, ..if case.left.is_empty() { source } else { rest } };
    let source = if format.is_none() { SourceConfig { files: vec![case.name.into()], ..source } } else { source };
    DataConfig { on_error, shuffle: false, pack: Packing::BestFit, ..config(vec![source]) }
}

#[test]
fn what_cannot_be_read_ends_the_run_or_is_counted() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(case.name), &case.content).unwrap();
        let place = |text: &str| format!("{}/{text}", folder.path().display());

        let mut stop = open(&data(&case, folder.path(), OnError::Stop), folder.path(), 8, 0).unwrap();
        for _ in 0..2 {
            let error = stop.next(1).unwrap_err();
            assert_eq!(error.message(), place(case.message), "again the same");
        }

        let mut skip = open(&data(&case, folder.path(), OnError::Skip), folder.path(), 8, 0).unwrap();
        let rows = skip.next(2).unwrap();
        let texts: Vec<String> =
            pieces(&rows).iter().map(|piece| piece.iter().map(|byte| *byte as u8 as char).collect()).collect();
        assert!(case.left.iter().all(|left| texts.iter().any(|text| text == left)), "{}: {texts:?}", case.name);
        let [Skipped { reason, count, example }] = &skip.skipped()[..] else { panic!("{:?}", skip.skipped()) };
        assert_eq!((reason.as_str(), example), (case.reason, &place(case.example)));
        assert!(*count >= 1);
    }
}

/// The tokens of the first row, in one document for each line.
fn first_row(name: &str, content: &[u8], width: usize, on_error: OnError) -> halite_support::Result<Vec<i32>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    let source = SourceConfig { documents: Documents::Line, ..source("a", name) };
    let config = DataConfig { on_error, shuffle: false, pack: Packing::InOrder, ..config(vec![source]) };
    let strip = |error: halite_support::Diagnostic| {
        let text = error.message().replace(&format!("{}/", folder.path().display()), "");
        halite_support::Diagnostic::error(error.code(), text)
    };
    open(&config, folder.path(), width, 0)?.next(1).map(|rows| rows.tokens).map_err(strip)
}

#[test]
fn compressed_texts_are_those_that_were_compressed() {
    let text = numbers();
    let expected: Vec<i32> = text.iter().filter(|byte| **byte != b'\n').map(|byte| i32::from(*byte)).collect();
    let (half, other) = text.split_at(text.len() / 2);
    // A frame of other data, which readers pass over.
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for (name, content) in [
        ("x.txt", text.clone()),
        ("x.txt.gz", gzip(&text)),
        ("x.txt.zst", zstd_frame(&text)),
        ("x.txt.zst", zstd_long_frame(&text)),
        ("x.txt.gz", [gzip(half), gzip(other)].concat()),
        ("x.txt.zst", [zstd_frame(half), skippable, zstd_frame(other)].concat()),
    ] {
        assert_eq!(first_row(name, &content, expected.len(), OnError::Stop).unwrap(), expected, "{name}");
    }
}

#[test]
fn damaged_compressed_files_are_errors_and_what_comes_before_is_used() {
    for (name, content) in [
        ("a.txt.gz", without_end(gzip(&numbers()))),
        ("b.txt.gz", with_wrong_byte(gzip(&numbers()))),
        ("c.txt.zst", without_end(zstd_frame(&numbers()))),
        ("d.txt.zst", with_wrong_byte(zstd_frame(&numbers()))),
        ("e.txt.zst", b"no frame".to_vec()),
    ] {
        let error = first_row(name, &content, 100_000, OnError::Stop).unwrap_err();
        assert!(error.message().starts_with(name), "{error}");
        assert!(error.message().contains(": the file ends early or is damaged ("), "{error}");
    }
    let content = [gzip(&numbers()), without_end(gzip(&numbers()))].concat();
    let row = first_row("a.txt.gz", &content, 100, OnError::Skip).unwrap();
    assert_eq!(row[..6], [48, 49, 50, 51, 52, 53]);
}

#[test]
fn parts_of_compressed_files_and_wrong_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.txt", "a.txt.gz", "a.dat"] {
        std::fs::write(folder.path().join(name), "x").unwrap();
    }
    let open = |sources: Vec<SourceConfig>, width| open(&config(sources), folder.path(), width, 0).err().unwrap();
    let part = |name, part: &str| SourceConfig { part: Some(part.into()), ..source("a", name) };
    let weight = |weight| SourceConfig { weight, ..source("a", "a.txt") };
    for (sources, message) in [
        (vec![part("a.txt.gz", "0..0.5")], "is compressed, so that no part of it can be found"),
        (
            vec![part("a.txt", "1..0")],
            "source `a`: the part `1..0` is no share of a file, expected two numbers from 0 to 1",
        ),
        (vec![source("a", "a.dat")], "a.dat` does not say what is in it"),
        (vec![], "there is no source of data"),
        (vec![weight(0.0)], "source `a` has the weight 0"),
        (vec![weight(f64::NAN)], "source `a` has the weight NaN"),
        (vec![weight(1.0), weight(2.0)], "two sources are named `a`"),
        (vec![source("a", "b*.txt")], "source `a`: no file matches `b*.txt` in `"),
    ] {
        let error = open(sources, 8);
        assert!(error.message().contains(message), "{error}");
    }
    assert_eq!(open(vec![source("a", "a.txt")], 1).message(), "a row has 1 tokens, expected at least 2");
}

#[test]
fn what_was_given_in_a_call_that_fails_is_given_again() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (100..400).map(|number| number.to_string()).collect();
    let good = lines.join("\n").into_bytes();
    std::fs::write(folder.path().join("good.txt"), &good).unwrap();
    std::fs::write(folder.path().join("bad.txt"), [&good[..], b"\n\xff\n"].concat()).unwrap();
    let open = |name| {
        let source = SourceConfig { documents: Documents::Line, ..source("a", name) };
        let config = DataConfig { buffer: Some(100), pack: Packing::InOrder, shuffle: false, ..config(vec![source]) };
        open(&config, folder.path(), 7, 0).unwrap()
    };
    let all = open("good.txt").next(20).unwrap().tokens;
    for taken in 0..20 {
        let mut bad = open("bad.txt");
        bad.next(taken).unwrap();
        let error = bad.next(1000).unwrap_err();
        assert!(error.message().ends_with("bad.txt:301: byte 1200 of the text is not UTF-8"), "{error}");
        let rest = bad.next(20 - taken).unwrap().tokens;
        assert_eq!(rest, all[taken * 7..], "after {taken} rows");
    }
}

/// A file that is cut, grows or goes away between two rows is told by name, with what it had.
#[test]
fn a_file_that_changes_while_it_is_read_is_told() {
    let ids: Vec<u8> = (0..40_000u32).flat_map(|id| (id as u16 % 200).to_le_bytes()).collect();
    let lines: String = (0..20_000).map(|number| format!("{{\"text\": \"{number}\"}}\n")).collect();
    let array = format!("[{}]", lines.trim_end().replace('\n', ","));
    let files = [
        ("a.txt", numbers()),
        ("b.txt.gz", gzip(&numbers())),
        ("c.jsonl", lines.into_bytes()),
        ("d.json", array.into_bytes()),
        ("e.u16", ids),
    ];
    for ((name, content), change) in files.iter().flat_map(|file| [(file, "cut"), (file, "grows"), (file, "goes")]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let format = name.ends_with(".u16").then_some(crate::formats::u16::FORMAT);
        let config = DataConfig { shuffle: false, ..config(vec![SourceConfig { format, ..source("a", name) }]) };
        let mut data = open(&config, folder.path(), 8, 0).unwrap();
        data.next(1).unwrap();
        let size = content.len();
        let told = match change {
            "cut" => {
                std::fs::write(&path, &content[..size / 3]).unwrap();
                format!("has {} bytes, expected {size} as when reading began", size / 3)
            }
            "grows" => {
                std::fs::write(&path, [&content[..], content].concat()).unwrap();
                format!("has {} bytes, expected {size} as when reading began", 2 * size)
            }
            _ => {
                std::fs::remove_file(&path).unwrap();
                "is gone, or was made, while it is read".to_owned()
            }
        };
        let error = (0..100).find_map(|_| data.next(1000).err()).unwrap_or_else(|| panic!("{name} {change}"));
        assert_eq!(error.message(), format!("source `a`: `{}` {told}", path.display()), "{name} {change}");
    }
}

#[test]
fn nothing_to_train_on_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "\n\n \n").unwrap();
    let mut data = open(&config(vec![source("a", "a.txt")]), folder.path(), 8, 0).unwrap();
    let error = data.next(1).unwrap_err();
    assert_eq!(error.message(), format!("there is no document in `{}/a.txt`", folder.path().display()));
}
