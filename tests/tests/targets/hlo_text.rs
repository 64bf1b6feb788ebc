//! HLO texts mean the modules that they are printed of: those of samples, goldens and steps, and those that JAX made.

#[path = "../../../compiler/hlo/tests/text/up_to_ids.rs"]
mod up_to_ids;

use crate::stablehlo::programs::KINDS;
use halite_hlo::text::{print_large_constants, read};
use halite_hlo::{CheckedHlo, decode};
use halite_support::SourceFile;
use std::path::Path;
use up_to_ids::up_to_ids;

/// Whether the text of a module is read as that module.
fn is_read(name: &str, bytes: &[u8]) -> bool {
    let module = decode(bytes).and_then(CheckedHlo::new).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let again = read(&SourceFile::new(name, print_large_constants(&module)));
    up_to_ids(&again.unwrap_or_else(|faults| panic!("{name}: {faults}"))) == up_to_ids(&module)
}

#[test]
fn what_is_printed_of_every_program_is_read() {
    let mut count = 0;
    for (kind, programs) in KINDS {
        for program in programs() {
            assert!(is_read(kind, &program.hlo), "{kind}: program {count}");
            count += 1;
        }
    }
    assert!(count > 150, "{count} programs");
}

#[test]
fn what_is_printed_of_the_programs_of_jax_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("jax/fixtures");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries are read").path();
        let name = path.display().to_string();
        if name.ends_with(".hlo.pb") {
            assert!(is_read(&name, &std::fs::read(&path).expect("it is read")), "{name}");
            count += 1;
        }
    }
    assert!(count > 10, "{count} programs");
}
