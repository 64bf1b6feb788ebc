//! Files of JSON that are one array, and byte order marks.

use super::corpus::{Draw, config, source};
use crate::encoder::Encoder;
use crate::files::Origin;
use crate::part::Part;
use crate::shard::{Blocks, Content, Fault, Found, Place};
use crate::source;
use halite_disk::Disk;
use halite_support::Result;
use serde_json::json;
use std::io::Write as _;
use std::path::Path;

fn open(folder: &Path, name: &str, part: &str) -> Result<Box<dyn Blocks>> {
    let origin = Origin { path: folder.join(name), disk: Disk::default() };
    let encoder = Encoder::open(&config(Vec::new()), folder).unwrap();
    source::open(&origin, &source("a", name), Part::parse(part).unwrap(), &encoder)?.open()
}

/// The texts from there on, each with its place, and what is no document.
fn rest(blocks: &mut dyn Blocks) -> (Vec<(Place, String)>, Vec<Fault>) {
    let (mut texts, mut faults) = (Vec::new(), Vec::new());
    loop {
        match blocks.next().unwrap() {
            Found::Block(block) => match block.content {
                Content::Text(text) => texts.push((block.place, text)),
                Content::Tokens(tokens) => panic!("{tokens:?}"),
            },
            Found::Fault(fault) => faults.push(fault),
            Found::End => return (texts, faults),
        }
    }
}

fn read(content: &[u8], name: &str) -> (Vec<String>, Vec<Fault>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    let (texts, faults) = rest(open(folder.path(), name, "0..1").unwrap().as_mut());
    (texts.into_iter().map(|(_, text)| text).collect(), faults)
}

/// Texts that hold what means something in JSON; one is longer than what is read at once.
fn texts(draw: &mut Draw) -> Vec<String> {
    let pieces = ["a", "\"", "\\", "[", "]", "{", "}", ",", "\n", "ö", " ", ":", "\\\""];
    let text = |draw: &mut Draw, longest| {
        let length = 1 + draw.below(longest);
        let middle: String = (0..length).map(|_| pieces[draw.below(pieces.len())]).collect();
        format!("x{middle}")
    };
    let mut texts: Vec<String> = (0..draw.below(20)).map(|_| text(draw, 12)).collect();
    if draw.below(4) == 0 {
        texts.push(text(draw, 1 << 20));
    }
    texts
}

#[test]
fn an_array_is_read_as_its_elements_and_from_any_of_them() {
    for seed in 0..60 {
        let mut draw = Draw::new(seed);
        let expected = texts(&mut draw);
        let all = json!(
            expected.iter().map(|text| json!({ "more": [{ "text": 1 }, "]"], "text": text })).collect::<Vec<_>>()
        );
        let written = if draw.below(2) == 0 { format!("{all:#}\n") } else { all.to_string() };
        let mark = if draw.below(2) == 0 { "\u{feff} \n" } else { "" };
        let content = format!("{mark}{written}");
        let folder = tempfile::tempdir().unwrap();
        let name = if draw.below(3) == 0 { "a.json.gz" } else { "a.json" };
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        match name {
            "a.json" => (&file).write_all(content.as_bytes()).unwrap(),
            _ => {
                let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::default());
                gzip.write_all(content.as_bytes()).unwrap();
                gzip.finish().unwrap();
            }
        }
        let mut blocks = open(folder.path(), name, "0..1").unwrap();
        let (found, faults) = rest(blocks.as_mut());
        assert_eq!(found.iter().map(|(_, text)| text).collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
        assert!(faults.is_empty(), "{seed}: {faults:?}");
        for (number, (place, _)) in found.iter().enumerate() {
            assert_eq!(content.as_bytes()[place.at as usize], b'{');
            blocks.seek(*place).unwrap();
            assert_eq!(rest(blocks.as_mut()).0, found[number..], "{seed}");
        }
    }
}

#[test]
fn what_is_no_element_is_left_out_and_told() {
    let fault = |content: &str| {
        let (texts, faults) = read(content.as_bytes(), "a.json");
        let faults: Vec<String> = faults.iter().map(|fault| format!("{}: {}", fault.at, fault.detail)).collect();
        (texts.join("|"), faults.join("|"))
    };
    let one = r#"{"text": "one"}"#;
    let two = r#"{"text": "two"}"#;
    let expect = |content: String, texts: &str, faults: &str| {
        assert_eq!(fault(&content), (texts.to_owned(), faults.to_owned()), "{content}");
    };
    expect("[]".to_owned(), "", "");
    expect(format!("[{one}, {two}]"), "one|two", "");
    expect(
        format!("[{one}, 3, {two}]"),
        "one|two",
        "18: the element is no JSON object: invalid type: integer `3`, expected an object at column 1",
    );
    expect(format!("[{one} {two}]"), "", "1: the element is no JSON object: trailing characters at column 17");
    expect(format!("[{one},, {two}]"), "one|two", "17: there is nothing where an element should be");
    expect(format!("[{one}, {two}"), "one", "18: the file ends within the array");
    expect(format!("[{one},"), "one", "17: the file ends within the array");
    expect("[".to_owned(), "", "1: the file ends within the array");
    expect(format!("[{one}] {two}"), "one", "16: something follows the array");
    let long = format!(r#"[{one}, {{"text": "{}"}}, {two}]"#, "x,".repeat(1 << 26));
    let (texts, faults) = fault(&long);
    assert_eq!((texts.as_str(), faults.as_str()), ("one|two", "18: the element is longer than 64.0 MiB"));
}

#[test]
fn an_array_is_taken_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.json"), "[]").unwrap();
    let error = open(folder.path(), "a.json", "0..0.5").map(|_| ()).unwrap_err();
    assert!(error.message().ends_with("a.json` is one array of JSON, of which no part can be taken"), "{error}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let lines = "\u{feff}{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
    let (texts, faults) = read(lines.as_bytes(), "a.jsonl");
    assert_eq!((texts.join("|").as_str(), faults.len()), ("one|two", 0));
    let (texts, faults) = read(lines.replace('\n', "\n\u{feff}").as_bytes(), "a.jsonl");
    assert_eq!((texts.join("|").as_str(), faults.len()), ("one", 2), "elsewhere it is a mistake");
}
