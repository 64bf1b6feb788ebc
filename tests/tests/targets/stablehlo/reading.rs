//! Texts of StableHLO mean what HLO means: those that are written from it, and those that JAX prints beside it.

#[path = "../../../../compiler/stablehlo/tests/written/alike.rs"]
mod alike;

use super::programs::{KINDS, plain_inputs};
use alike::renamed;
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
