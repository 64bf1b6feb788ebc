//! Texts of StableHLO mean what HLO means: those that are written from it, and those that JAX prints beside it.

use super::programs::{KINDS, plain_inputs};
use halite_hlo::{CheckedHlo, decode};
use halite_stablehlo::{Form, print, read};
use halite_support::SourceFile;
use halite_tensor::HostTensor;
use halite_test_kit::xla;
use std::path::Path;

/// Programs that JAX lowered (`tests/jax/make_hlo.py`), as HLO and as text. Not those whose HLO is of other XLA than the text.
const OF_JAX: [&str; 5] = ["extremes", "llama_step", "rounds", "scan", "while"];

fn sound(name: &str, text: &str) -> CheckedHlo {
    read(&SourceFile::new(name, text)).unwrap_or_else(|faults| panic!("{name}: {faults}"))
}

/// The writer drops tuples and copies, and names values anew: what it writes of what is read from its text is that text.
#[test]
fn what_is_written_of_every_program_is_read() {
    let mut count = 0;
    for (kind, programs) in KINDS {
        for program in programs() {
            let hlo = decode(&program.hlo).and_then(CheckedHlo::new).expect("it is sound");
            let form = Form::Program { num_replicas: program.inputs.len() };
            let text = print(&hlo, form).expect("it has a form");
            let again = print(&sound(kind, &text), form).expect("it has a form again");
            let (expected, found) = (renamed(&text), renamed(&again));
            let differing = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
            assert_eq!(differing, None, "{kind}: `{}`", hlo.name);
            assert_eq!(expected.len(), found.len(), "{kind}: `{}`", hlo.name);
            count += 1;
        }
    }
    assert!(count > 150, "{count} programs");
}

#[test]
fn what_jax_prints_gives_the_bits_of_what_it_lowers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("jax/fixtures");
    for name in OF_JAX {
        let text = std::fs::read_to_string(folder.join(name).with_extension("mlir")).expect("the text is there");
        let hlo = std::fs::read(folder.join(name).with_extension("hlo.pb")).expect("the HLO is there");
        let read = sound(name, &text).encode();
        let inputs = [plain_inputs(&read)];
        let run = |hlo: &[u8]| xla::evaluate_ranks(hlo, &inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [expected, found] = [run(&hlo), run(&read)];
        let bytes = |results: &[Vec<HostTensor>]| -> Vec<Vec<u8>> {
            results.iter().flatten().map(|result| result.bytes().to_vec()).collect()
        };
        assert!(bytes(&expected) == bytes(&found), "{name}");
    }
}

/// A text whose values are numbered in the order in which they are first named, without locations.
fn renamed(text: &str) -> String {
    let mut numbers = std::collections::BTreeMap::new();
    let (mut renamed, mut next) = (String::new(), 0);
    let lines = text.lines().filter(|line| !line.starts_with("#loc"));
    for line in lines.map(without_locations) {
        let (is_block, is_value) = (line.trim_start().starts_with('^'), line.trim_start().starts_with('%'));
        let mut parts = line.split('%');
        renamed.extend(parts.next());
        for (at, part) in parts.enumerate() {
            let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || "._-$".contains(c))).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            // What combines is written out at each of its uses, and may be one computation or several.
            if is_block || is_value && at == 0 || !numbers.contains_key(name) {
                next += 1;
                numbers.insert(name.to_owned(), next);
            }
            renamed.push_str(&format!("%{}{rest}", numbers[name]));
        }
        renamed.push('\n');
    }
    renamed
}

/// A line without ` loc(#loc3)`.
fn without_locations(line: &str) -> String {
    let mut parts = line.split(" loc(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| line + part.split_once(')').map_or("", |(_, rest)| rest))
}
